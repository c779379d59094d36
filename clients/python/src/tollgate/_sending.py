"""Sends calls with the credential, again where that is safe, and turns refusals into errors."""

import itertools
import json
import random
import re
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Mapping, Optional, TypeVar, Union

import httpx

from ._form import Form
from ._network import FAILURES, Answer, Deadline, Network, Request, failure_of
from ._retry import retry_delay, should_retry
from ._version import __version__
from .contract import Job
from .errors import CallTimeout, TollgateError, error_of_answer

Value = TypeVar("Value")

ApiKey = Union[str, Callable[[], Union[str, Awaitable[str]]], None]

MAX_RETRIES = 2

#: The request was never sent, so whatever it asks for is not done twice.
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class Options:
    """What can be said of any one call."""

    deadline: Deadline
    max_retries: Optional[int] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: Optional[str] = None
    on_progress: Optional[Callable[[Job], object]] = None


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    options: Options
    json: Optional[Mapping[str, Any]] = None
    form: Optional[Form] = None
    #: Reads, and creates with an idempotency key: a second one does nothing that the first has done.
    is_repeatable: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


class Sender:
    def __init__(
        self, network: Network, base_url: str, api_key: ApiKey, max_retries: int, headers: Mapping[str, str]
    ) -> None:
        self.network = network
        self._origin = re.sub(r"/+(?:v1/*)?$", "", base_url)
        self._api_key = api_key
        self._max_retries = max_retries
        self._headers = headers

    async def json(self, call: Call) -> Any:
        """The answer's JSON, whose shape is the contract's. It is read within the attempt: an answer that breaks off is
        asked for again, where that is safe."""
        return await self._with_retries(call, _json_of)

    async def open(self, call: Call) -> Answer:
        return await self._with_retries(call, _unread)

    async def _with_retries(self, call: Call, take: Callable[[Answer], Awaitable[Value]]) -> Value:
        options = call.options
        max_retries = self._max_retries if options.max_retries is None else options.max_retries
        if call.form is not None and not call.form.is_repeatable:
            max_retries = 0
        for retry in itertools.count():
            # Not sent with no time left: to a socket, a timeout of zero means not to block.
            if options.deadline.has_passed():
                raise CallTimeout()
            answer = None
            try:
                answer = await self.network.open(await self._request(call), options.deadline)
                if 200 <= answer.status < 300:
                    return await take(answer)
                error = error_of_answer(answer.status, answer.request_id, _parsed(await answer.read()))
                may_repeat = should_retry(answer.status, answer.headers, call.is_repeatable)
            except FAILURES as cause:
                error = failure_of(cause, options.deadline, answer.request_id if answer else None)
                # Without an answer it is unknown whether the request was served, and what is charged is not asked for twice.
                may_repeat = call.is_repeatable or isinstance(cause, NEVER_SENT)
            delay = retry_delay(retry, answer.headers if answer else None, random.random())
            has_time = options.deadline.bounded(delay) == delay
            if retry >= max_retries or not may_repeat or not has_time or isinstance(error, CallTimeout):
                raise error
            await self.network.pause(delay)
        raise AssertionError("counting has no end")

    async def _request(self, call: Call) -> Request:
        """A link to media leads to an absolute URL, perhaps of another host: it is fetched without the credential, and as
        it is, so that its length is that of the bytes."""
        if not call.path.startswith("/"):
            return Request(call.method, call.path, {"accept-encoding": "identity"}, follows_redirects=True)
        key = self._api_key
        # Anew for every attempt: a token may have been refreshed meanwhile.
        token = await self.network.value(key()) if callable(key) else key
        headers = httpx.Headers({"user-agent": f"tollgate-python/{__version__}", **self._headers})
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        headers.update({**call.headers, **call.options.headers})
        body: Union[bytes, Form, None] = None
        if call.form is not None:
            body = call.form
            headers["content-type"] = call.form.type
            length = call.form.length()
            if length is not None:
                headers["content-length"] = str(length)
        elif call.json is not None:
            body = json.dumps(call.json, ensure_ascii=False).encode()
            headers["content-type"] = "application/json"
        return Request(call.method, self._origin + call.path, headers, body)


async def _json_of(answer: Answer) -> Any:
    text = await answer.read()
    value = _parsed(text)
    if value is None:
        message = "The answer is no JSON, so it is not of a gateway."
        raise TollgateError(message, code=f"http_{answer.status}", status=answer.status, request_id=answer.request_id)
    return value


async def _unread(answer: Answer) -> Answer:
    return answer


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
