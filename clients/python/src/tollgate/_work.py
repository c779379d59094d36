"""Every call of the library, written once: how its request is built, waited for and decoded. `Tollgate` and `AsyncTollgate`
give these coroutines their types and run them."""

import json
import random
import secrets
import threading
from typing import Any, AsyncGenerator, List, Mapping, Optional, Tuple, cast
from urllib.parse import quote, urlencode

from ._events import EventReader
from ._form import Form
from ._network import Answer, Deadline
from ._params import AsyncUpload, ChatChunk, Outcome
from ._retry import poll_delay
from ._sending import Call, Options, Sender
from .contract import Asset, Job
from .errors import CallTimeout, JobError, TollgateError

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
FILES = "/v1/files"
IMAGES = "/v1/images/generations"
IMAGE_EDITS = "/v1/images/edits"
JOBS = "/v1/jobs"
MUSIC = "/v1/audio/music"
SPEECH = "/v1/audio/speech"
TRANSCRIPTIONS = "/v1/audio/transcriptions"
VIDEOS = "/v1/videos"

OPTION_NAMES = ("max_retries", "headers", "extra_body", "idempotency_key", "on_progress")

#: A restart of the gateway is sat out: about half a minute of back-off.
POLL_RETRIES = 6
#: Seconds; below the idle timeouts of common proxies.
PREFERRED_WAIT = 25
#: A request that waits keeps one of the key's slots, which are few; beyond these, jobs are polled.
WAITING_REQUESTS_MAX = 4

Params = Mapping[str, Any]


class Work:
    def __init__(self, sender: Sender, timeout: Optional[float]) -> None:
        self._sender = sender
        self._timeout = timeout
        # Of a thread and of a task alike: it is never waited for.
        self._waiting_requests = threading.Semaphore(WAITING_REQUESTS_MAX)

    async def close(self) -> None:
        await self._sender.network.close()

    async def get(self, path: str, params: Params) -> Any:
        _, options = self._split(params)
        return await self._sender.json(Call("GET", path, options, is_repeatable=True))

    async def post(self, path: str, params: Params) -> Any:
        """What may be charged, and has no idempotency key: not repeated unless an answer says so."""
        fields, options = self._split(params)
        return await self._sender.json(Call("POST", path, options, json=fields))

    async def estimate(self, params: Params) -> Any:
        fields, options = self._split(params)
        return await self._sender.json(Call("POST", "/v1/estimate", options, json=fields, is_repeatable=True))

    async def stream(self, params: Params) -> AsyncGenerator[ChatChunk, None]:
        """The request is sent when the first chunk is asked for, and ended when the loop is left."""
        fields, options = self._split(params)
        body = {**fields, "stream": True, "stream_options": {"include_usage": True}}
        answer = await self._sender.open(Call("POST", CHAT, options, json=body))
        try:
            reader = EventReader(answer.status, answer.request_id)
            while not reader.is_done and (piece := await answer.next_piece()) is not None:
                for event in reader.feed(piece):
                    yield event
            reader.end()
        finally:
            await answer.close()

    async def speak(self, params: Params) -> Answer:
        fields, options = self._split(params)
        return await self._sender.open(Call("POST", SPEECH, options, json={**fields, "output": "binary"}))

    async def transcribe(self, upload: Optional[AsyncUpload], params: Params) -> Any:
        if upload is None:
            return await self.post(TRANSCRIPTIONS, params)
        fields, options = self._split(params)
        filename = fields.pop("filename", None)
        form = Form(upload, _text_fields(fields), filename=filename)
        return await self._sender.json(Call("POST", TRANSCRIPTIONS, options, form=form))

    async def upload(self, upload: AsyncUpload, params: Params) -> Any:
        """It costs nothing, and what is kept twice goes after a day, so it may be repeated."""
        fields, options = self._split(params)
        name, media_type = fields.pop("filename", None), fields.pop("type", None)
        form = Form(upload, _text_fields(fields), filename=name, type=media_type)
        return await self._sender.json(Call("POST", FILES, options, form=form, is_repeatable=True))

    async def download(self, url: str, params: Params) -> Answer:
        _, options = self._split(params)
        return await self._sender.open(Call("GET", url, options, is_repeatable=True))

    async def create(self, path: str, params: Params) -> Job:
        fields, options = self._split(params)
        return await self._create(path, fields, options)

    async def create_and_wait(self, path: str, params: Params) -> Outcome:
        """The gateway is asked to answer with the ended job, which saves the polls of short ones, unless progress is to be
        told."""
        fields, options = self._split(params)
        if options.on_progress is None and self._waiting_requests.acquire(blocking=False):
            try:
                job = await self._create(path, fields, options, {"prefer": f"wait={PREFERRED_WAIT}"})
            finally:
                self._waiting_requests.release()
            if _is_terminal(job):
                return await self._outcome(job, options)
        else:
            job = await self._create(path, fields, options)
        return await self._wait(job["id"], options)

    async def wait(self, job_id: str, params: Params) -> Outcome:
        _, options = self._split(params)
        return await self._wait(job_id, options)

    async def jobs(self, params: Params) -> AsyncGenerator[Job, None]:
        fields, options = self._split(params)
        while True:
            call = Call("GET", f"{JOBS}?{urlencode(fields)}", options, is_repeatable=True)
            page = await self._sender.json(call)
            for job in page["data"]:
                yield job
            if not page["has_more"] or not page["data"]:
                return
            fields["after"] = page["data"][-1]["id"]

    async def _create(self, path: str, fields: Params, options: Options, headers: Mapping[str, str] = {}) -> Job:
        # One key for all attempts of this call, so that a retry finds the first one's job.
        key = options.idempotency_key or secrets.token_hex(16)
        sent = {**headers, "idempotency-key": key}
        call = Call("POST", path, options, json=fields, headers=sent, is_repeatable=True)
        return cast(Job, await self._sender.json(call))

    async def _wait(self, job_id: str, options: Options) -> Outcome:
        call = Call("GET", job_path(job_id), _patient(options), is_repeatable=True)
        poll, last = 0, None
        while True:
            job = cast(Job, await self._sender.json(call))
            state = (job["status"], job["progress"])
            if options.on_progress is not None and state != last:
                await self._sender.network.value(options.on_progress(job))
            if _is_terminal(job):
                return await self._outcome(job, options)
            await self._sender.network.pause(options.deadline.bounded(poll_delay(poll, random.random())))
            if options.deadline.has_passed():
                raise CallTimeout()
            poll, last = poll + 1, state

    async def _outcome(self, job: Job, options: Options) -> Outcome:
        if job["status"] != "succeeded":
            raise JobError(job)
        path = f"{job_path(job['id'])}/assets"
        answer = await self._sender.json(Call("GET", path, _patient(options), is_repeatable=True))
        assets = cast(List[Asset], answer["items"])
        if not assets:
            raise TollgateError(f"The job {job['id']} has no result.", code="job_asset_not_ready")
        return Outcome(job, assets)

    def _split(self, params: Params) -> Tuple[dict[str, Any], Options]:
        """Fields of the request, without those that are None, which is the same as leaving them out; and the rest."""
        fields = {name: value for name, value in params.items() if value is not None}
        timeout = fields.pop("timeout", self._timeout)
        options = Options(Deadline(timeout), **{name: fields.pop(name) for name in OPTION_NAMES if name in fields})
        return {**fields, **options.extra_body}, options


def job_path(job_id: str) -> str:
    return f"{JOBS}/{quote(job_id, safe='')}"


def _is_terminal(job: Job) -> bool:
    return job["status"] not in ("queued", "running")


def _patient(options: Options) -> Options:
    max_retries = POLL_RETRIES if options.max_retries is None else options.max_retries
    return Options(options.deadline, max_retries, options.headers)


def _text_fields(fields: Params) -> List[Tuple[str, str]]:
    """A list becomes several fields of the same name."""

    def written(value: object) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    return [
        (f"{name}[]" if isinstance(value, (list, tuple)) else name, written(one))
        for name, value in fields.items()
        for one in (value if isinstance(value, (list, tuple)) else [value])
    ]
