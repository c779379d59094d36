"""The blocking client. What each call does is in `_work.py`; here it has its types. `_async_client.py` is its twin."""

from types import TracebackType
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Type, Union, cast

import httpx
from typing_extensions import Unpack

from . import _params as p
from . import _work as routes
from ._media import Media
from ._network import BlockingNetwork, iterate_now, run_now
from ._sending import MAX_RETRIES, Sender
from ._work import Work
from .contract import Asset, CreditBalance, Estimate, EstimateRequestEndpoint, File, Job, Model, Transcription


class Tollgate:
    """A gateway, as an API key or an access token sees it. Threads may share one."""

    def __init__(
        self,
        base_url: str,
        api_key: Union[str, Callable[[], str], None] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: int = MAX_RETRIES,
        headers: Optional[Mapping[str, str]] = None,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        """`base_url` is the gateway's address, or that of your own proxy in front of it. `api_key` may be a function that
        gives the current access token; it is left out where your proxy adds it. `timeout` holds for every call that names
        none: without it, a call takes as long as it takes, and only a silent connection is given up. `http_client` is for
        certificates, proxies and pools of your own."""
        network = BlockingNetwork(http_client)
        self._work = Work(Sender(network, base_url, api_key, max_retries, headers or {}), timeout)
        self.chat = Chat(self._work)
        self.images = Images(self._work)
        self.videos = Videos(self._work)
        self.music = Music(self._work)
        self.jobs = Jobs(self._work)

    def speak(self, **params: Unpack[p.SpeechParams]) -> Media:
        """Reads text aloud. The sound begins to come before all of it is spoken."""
        return Media(run_now(self._work.speak(params)))

    def transcribe(self, file: Optional[p.Upload] = None, **params: Unpack[p.TranscriptionParams]) -> Transcription:
        """Turns sound into text: a file, or else the `url` of one."""
        return cast(Transcription, run_now(self._work.transcribe(file, params)))

    def embed(self, **params: Unpack[p.EmbeddingParams]) -> p.EmbeddingAnswer:
        """Turns texts into vectors, in the order of the texts."""
        return cast(p.EmbeddingAnswer, run_now(self._work.post(routes.EMBEDDINGS, params)))

    def upload(self, file: p.Upload, **params: Unpack[p.UploadParams]) -> File:
        """Keeps media for a day. The `url` of the answer may stand wherever a request takes media."""
        return cast(File, run_now(self._work.upload(file, params)))

    def download(self, asset: Union[Asset, File], **options: Unpack[p.CallOptions]) -> Media:
        """What a link leads to, such as an asset of a job. No credential is sent along."""
        return Media(run_now(self._work.download(asset["url"], options)))

    def models(self, **options: Unpack[p.CallOptions]) -> List[Model]:
        """The models that this key may call, with their prices."""
        return cast(List[Model], run_now(self._work.get("/v1/models", options))["data"])

    def estimate(
        self, *, endpoint: EstimateRequestEndpoint, model: str, timeout: Optional[float] = None, **fields: Any
    ) -> Estimate:
        """What a call would reserve, by its own fields. Free."""
        params = {"endpoint": endpoint, "model": model, "timeout": timeout, **fields}
        return cast(Estimate, run_now(self._work.estimate(params)))

    def credits(self, **options: Unpack[p.CallOptions]) -> CreditBalance:
        """What the account can spend."""
        return cast(CreditBalance, run_now(self._work.get("/v1/credits", options)))

    def close(self) -> None:
        run_now(self._work.close())

    def __enter__(self) -> "Tollgate":
        return self

    def __exit__(self, _: Optional[Type[BaseException]], __: Optional[BaseException], ___: Optional[TracebackType]) -> None:
        self.close()


class _Part:
    def __init__(self, work: Work) -> None:
        self._work = work


class Chat(_Part):
    def create(self, **params: Unpack[p.ChatParams]) -> p.ChatAnswer:
        return cast(p.ChatAnswer, run_now(self._work.post(routes.CHAT, params)))

    def stream(self, **params: Unpack[p.ChatParams]) -> Iterator[p.ChatChunk]:
        """The request is sent when the first chunk is asked for, and ended when the loop is left. The last chunk has the
        usage. A stream that breaks off raises."""
        return iterate_now(self._work.stream(params))


class Images(_Part):
    def generate(self, **params: Unpack[p.ImageParams]) -> Job:
        return run_now(self._work.create(routes.IMAGES, params))

    def generate_and_wait(self, **params: Unpack[p.ImageWaitParams]) -> p.Outcome:
        return run_now(self._work.create_and_wait(routes.IMAGES, params))

    def edit(self, **params: Unpack[p.ImageEditParams]) -> Job:
        return run_now(self._work.create(routes.IMAGE_EDITS, params))

    def edit_and_wait(self, **params: Unpack[p.ImageEditWaitParams]) -> p.Outcome:
        return run_now(self._work.create_and_wait(routes.IMAGE_EDITS, params))


class Videos(_Part):
    def generate(self, **params: Unpack[p.VideoParams]) -> Job:
        return run_now(self._work.create(routes.VIDEOS, params))

    def generate_and_wait(self, **params: Unpack[p.VideoWaitParams]) -> p.Outcome:
        return run_now(self._work.create_and_wait(routes.VIDEOS, params))


class Music(_Part):
    def generate(self, **params: Unpack[p.MusicParams]) -> Job:
        return run_now(self._work.create(routes.MUSIC, params))

    def generate_and_wait(self, **params: Unpack[p.MusicWaitParams]) -> p.Outcome:
        return run_now(self._work.create_and_wait(routes.MUSIC, params))


class Jobs(_Part):
    def get(self, job_id: str, **options: Unpack[p.CallOptions]) -> Job:
        return cast(Job, run_now(self._work.get(routes.job_path(job_id), options)))

    def list(self, **filter: Unpack[p.JobFilter]) -> Iterator[Job]:
        """Newest first, page by page as the loop goes on."""
        return iterate_now(self._work.jobs(filter))

    def wait(self, job_id: str, **options: Unpack[p.WaitOptions]) -> p.Outcome:
        """Polls with jittered back-off until the job has ended. Raises a `JobError` where it ended without a result."""
        return run_now(self._work.wait(job_id, options))

    def assets(self, job_id: str, **options: Unpack[p.CallOptions]) -> Sequence[Asset]:
        """Fresh links to what a job has made."""
        answer = run_now(self._work.get(f"{routes.job_path(job_id)}/assets", options))
        return cast(Sequence[Asset], answer["items"])
