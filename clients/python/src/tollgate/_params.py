"""What calls take beside the fields of the contract, and the shapes of chat, of which the contract says less."""

import os
from typing import IO, Any, AsyncIterable, Callable, Iterable, Literal, Mapping, NamedTuple, Optional, Sequence, Union

from typing_extensions import NotRequired, TypedDict

from .contract import (
    Asset,
    ChatCompletionUsage,
    ChatRequest,
    EmbeddingRequest,
    EmbeddingsUsage,
    ImageEditRequest,
    ImageRequest,
    Job,
    JobKind,
    JobStatus,
    SoundRequest,
    TranscriptionRequest,
    VideoRequest,
)

#: A path, bytes, a binary file or pieces of bytes. The first two are sent again where a connection fails; the others can be
#: read once only.
Upload = Union["os.PathLike[str]", bytes, IO[bytes], Iterable[bytes]]
AsyncUpload = Union[Upload, AsyncIterable[bytes]]


class CallOptions(TypedDict):
    # Seconds for the whole call: retries, waiting for a job and reading a stream included. Then CallTimeout is raised.
    timeout: NotRequired[Optional[float]]
    # How often a request that may be repeated is sent again.
    max_retries: NotRequired[int]
    headers: NotRequired[Mapping[str, str]]


class BodyOptions(CallOptions):
    # Fields that a model takes beyond those of the types.
    extra_body: NotRequired[Mapping[str, Any]]


class CreateOptions(BodyOptions):
    # Calls with the same key make one job, whenever they are made. Without it, each call has a key of its own.
    idempotency_key: NotRequired[str]


class Waiting(TypedDict):
    # Called with the job when its status or its progress has changed. AsyncTollgate awaits what it returns.
    on_progress: NotRequired[Callable[[Job], object]]


class WaitOptions(CallOptions, Waiting):
    pass


class Outcome(NamedTuple):
    """What a job has made: at least one thing, with a link that works for 15 minutes."""

    job: Job
    assets: Sequence[Asset]


class ToolFunction(TypedDict):
    name: str
    arguments: str


class ToolCall(TypedDict):
    id: str
    type: Literal["function"]
    function: ToolFunction


class ChatMessage(TypedDict):
    role: str
    # A text, or parts such as {"type": "image_url", "image_url": {"url": …}}.
    content: NotRequired[Union[str, Sequence[Mapping[str, Any]], None]]
    name: NotRequired[str]
    tool_calls: NotRequired[Sequence[ToolCall]]
    tool_call_id: NotRequired[str]


class AnswerMessage(TypedDict):
    role: Literal["assistant"]
    content: Optional[str]
    tool_calls: NotRequired[list[ToolCall]]


class ChatChoice(TypedDict):
    index: int
    message: AnswerMessage
    finish_reason: Optional[str]


class ChatAnswer(TypedDict):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatCompletionUsage


class ToolCallDelta(TypedDict):
    index: int
    id: NotRequired[str]
    type: NotRequired[Literal["function"]]
    # Its name comes once; its arguments come in pieces.
    function: NotRequired[Mapping[str, str]]


class ChatDelta(TypedDict):
    role: NotRequired[Literal["assistant"]]
    content: NotRequired[Optional[str]]
    tool_calls: NotRequired[list[ToolCallDelta]]


class ChunkChoice(TypedDict):
    index: int
    delta: ChatDelta
    finish_reason: Optional[str]


class ChatChunk(TypedDict):
    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    # Empty in the last chunk, which has the usage.
    choices: list[ChunkChoice]
    usage: NotRequired[Optional[ChatCompletionUsage]]


class Embedding(TypedDict):
    index: int
    embedding: list[float]


class EmbeddingAnswer(TypedDict):
    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: EmbeddingsUsage


class ChatParams(ChatRequest, BodyOptions):
    messages: Sequence[ChatMessage]


class ImageParams(ImageRequest, CreateOptions):
    pass


class ImageWaitParams(ImageParams, Waiting):
    pass


class ImageEditParams(ImageEditRequest, CreateOptions):
    pass


class ImageEditWaitParams(ImageEditParams, Waiting):
    pass


class VideoParams(VideoRequest, CreateOptions):
    pass


class VideoWaitParams(VideoParams, Waiting):
    pass


class MusicParams(SoundRequest, CreateOptions):
    pass


class MusicWaitParams(MusicParams, Waiting):
    pass


class SpeechParams(SoundRequest, BodyOptions):
    pass


class EmbeddingParams(EmbeddingRequest, BodyOptions):
    pass


class TranscriptionParams(TranscriptionRequest, BodyOptions):
    filename: NotRequired[str]
    # `verbose_json` adds the language, the length and the times.
    response_format: NotRequired[Literal["json", "verbose_json"]]


class UploadParams(CallOptions):
    filename: NotRequired[str]
    # Such as `image/png`. The gateway looks at the bytes, so it may be left out.
    type: NotRequired[str]
    purpose: NotRequired[str]


class JobFilter(CallOptions):
    status: NotRequired[JobStatus]
    kind: NotRequired[JobKind]
    model: NotRequired[str]
    # How many one request brings; the loop goes on behind them.
    limit: NotRequired[int]
