"""The asynchronous client, for asyncio and trio: the twin of `_client.py`, with the same calls by the same names."""

from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, List, Mapping, Optional, Sequence, Type, Union, cast

import httpx
from typing_extensions import Unpack

from . import _params as p
from . import _work as routes
from ._media import AsyncMedia
from ._network import AsyncNetwork
from ._sending import MAX_RETRIES, Sender
from ._work import Work
from .contract import Asset, CreditBalance, Estimate, EstimateRequestEndpoint, File, Job, Model, Transcription


class AsyncTollgate:
    """A gateway, as an API key or an access token sees it. Tasks may share one; cancelling a task ends its call."""

    def __init__(
        self,
        base_url: str,
        api_key: Union[str, Callable[[], Union[str, Awaitable[str]]], None] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: int = MAX_RETRIES,
        headers: Optional[Mapping[str, str]] = None,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """As those of `Tollgate`. `api_key` may be an asynchronous function."""
        network = AsyncNetwork(http_client)
        self._work = Work(Sender(network, base_url, api_key, max_retries, headers or {}), timeout)
        self.chat = Chat(self._work)
        self.images = Images(self._work)
        self.videos = Videos(self._work)
        self.music = Music(self._work)
        self.jobs = Jobs(self._work)

    async def speak(self, **params: Unpack[p.SpeechParams]) -> AsyncMedia:
        """Reads text aloud. The sound begins to come before all of it is spoken."""
        return AsyncMedia(await self._work.speak(params))

    async def transcribe(self, file: Optional[p.AsyncUpload] = None, **params: Unpack[p.TranscriptionParams]) -> Transcription:
        """Turns sound into text: a file, or else the `url` of one."""
        return cast(Transcription, await self._work.transcribe(file, params))

    async def embed(self, **params: Unpack[p.EmbeddingParams]) -> p.EmbeddingAnswer:
        """Turns texts into vectors, in the order of the texts."""
        return cast(p.EmbeddingAnswer, await self._work.post(routes.EMBEDDINGS, params))

    async def upload(self, file: p.AsyncUpload, **params: Unpack[p.UploadParams]) -> File:
        """Keeps media for a day. The `url` of the answer may stand wherever a request takes media."""
        return cast(File, await self._work.upload(file, params))

    async def download(self, asset: Union[Asset, File], **options: Unpack[p.CallOptions]) -> AsyncMedia:
        """What a link leads to, such as an asset of a job. No credential is sent along."""
        return AsyncMedia(await self._work.download(asset["url"], options))

    async def models(self, **options: Unpack[p.CallOptions]) -> List[Model]:
        """The models that this key may call, with their prices."""
        return cast(List[Model], (await self._work.get("/v1/models", options))["data"])

    async def estimate(
        self, *, endpoint: EstimateRequestEndpoint, model: str, timeout: Optional[float] = None, **fields: Any
    ) -> Estimate:
        """What a call would reserve, by its own fields. Free."""
        params = {"endpoint": endpoint, "model": model, "timeout": timeout, **fields}
        return cast(Estimate, await self._work.estimate(params))

    async def credits(self, **options: Unpack[p.CallOptions]) -> CreditBalance:
        """What the account can spend."""
        return cast(CreditBalance, await self._work.get("/v1/credits", options))

    async def close(self) -> None:
        await self._work.close()

    async def __aenter__(self) -> "AsyncTollgate":
        return self

    async def __aexit__(self, _: Optional[Type[BaseException]], __: Optional[BaseException], ___: Optional[TracebackType]) -> None:
        await self.close()


class _Part:
    def __init__(self, work: Work) -> None:
        self._work = work


class Chat(_Part):
    async def create(self, **params: Unpack[p.ChatParams]) -> p.ChatAnswer:
        return cast(p.ChatAnswer, await self._work.post(routes.CHAT, params))

    def stream(self, **params: Unpack[p.ChatParams]) -> AsyncIterator[p.ChatChunk]:
        """The request is sent when the first chunk is asked for, and ended when the loop is left. The last chunk has the
        usage. A stream that breaks off raises."""
        return self._work.stream(params)


class Images(_Part):
    async def generate(self, **params: Unpack[p.ImageParams]) -> Job:
        return await self._work.create(routes.IMAGES, params)

    async def generate_and_wait(self, **params: Unpack[p.ImageWaitParams]) -> p.Outcome:
        return await self._work.create_and_wait(routes.IMAGES, params)

    async def edit(self, **params: Unpack[p.ImageEditParams]) -> Job:
        return await self._work.create(routes.IMAGE_EDITS, params)

    async def edit_and_wait(self, **params: Unpack[p.ImageEditWaitParams]) -> p.Outcome:
        return await self._work.create_and_wait(routes.IMAGE_EDITS, params)


class Videos(_Part):
    async def generate(self, **params: Unpack[p.VideoParams]) -> Job:
        return await self._work.create(routes.VIDEOS, params)

    async def generate_and_wait(self, **params: Unpack[p.VideoWaitParams]) -> p.Outcome:
        return await self._work.create_and_wait(routes.VIDEOS, params)


class Music(_Part):
    async def generate(self, **params: Unpack[p.MusicParams]) -> Job:
        return await self._work.create(routes.MUSIC, params)

    async def generate_and_wait(self, **params: Unpack[p.MusicWaitParams]) -> p.Outcome:
        return await self._work.create_and_wait(routes.MUSIC, params)


class Jobs(_Part):
    async def get(self, job_id: str, **options: Unpack[p.CallOptions]) -> Job:
        return cast(Job, await self._work.get(routes.job_path(job_id), options))

    def list(self, **filter: Unpack[p.JobFilter]) -> AsyncIterator[Job]:
        """Newest first, page by page as the loop goes on."""
        return self._work.jobs(filter)

    async def wait(self, job_id: str, **options: Unpack[p.WaitOptions]) -> p.Outcome:
        """Polls with jittered back-off until the job has ended. Raises a `JobError` where it ended without a result."""
        return await self._work.wait(job_id, options)

    async def assets(self, job_id: str, **options: Unpack[p.CallOptions]) -> Sequence[Asset]:
        """Fresh links to what a job has made."""
        answer = await self._work.get(f"{routes.job_path(job_id)}/assets", options)
        return cast(Sequence[Asset], answer["items"])
