"""The client library of a Tollgate gateway: what a program calls, without knowing of retries, idempotency keys, polling,
forms or server-sent events.

`Tollgate` blocks and `AsyncTollgate` awaits; both are thin over the same coroutines (`_work.py`, `_sending.py`), and only
the network beneath differs (`_network.py`). The shapes on the wire are types made from the gateway's own contract
(`contract.py`).
"""

from ._async_client import AsyncTollgate
from ._client import Tollgate
from ._media import AsyncMedia, Media
from ._params import AsyncUpload, ChatAnswer, ChatChoice, ChatChunk, ChatMessage, EmbeddingAnswer, Outcome, ToolCall, Upload
from ._version import __version__ as __version__
from .contract import Asset, CreditBalance, ErrorCode, Estimate, File, Job, Model, Transcription
from .errors import CallTimeout, JobError, TollgateError

__all__ = [
    "Asset",
    "AsyncMedia",
    "AsyncTollgate",
    "AsyncUpload",
    "CallTimeout",
    "ChatAnswer",
    "ChatChoice",
    "ChatChunk",
    "ChatMessage",
    "CreditBalance",
    "EmbeddingAnswer",
    "ErrorCode",
    "Estimate",
    "File",
    "Job",
    "JobError",
    "Media",
    "Model",
    "Outcome",
    "Tollgate",
    "TollgateError",
    "ToolCall",
    "Transcription",
    "Upload",
]
