"""The one place where blocking and asynchronous differ. Everything above is written once, as coroutines over a `Network`:
with the blocking one no `await` ever suspends, so that `run_now` runs them to their end in a single step."""

import inspect
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, AsyncGenerator, Awaitable, Coroutine, Iterator, Mapping, Optional, TypeVar, Union, cast

import anyio
import httpx

from ._form import Form
from .errors import CallTimeout, TollgateError, connection_failed

Value = TypeVar("Value")

CONNECT_SECONDS = 10.0
#: Longer than the gateway is ever silent in the middle of an answer.
IDLE_SECONDS = 600.0
#: A blocking read may give up a little before the deadline, by the rounding of its own timer.
TIMER_SLACK_SECONDS = 0.05

#: Ends of an attempt without an answer, or without all of it.
FAILURES = (httpx.RequestError, TimeoutError)


def run_now(coroutine: Coroutine[Any, Any, Value]) -> Value:
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast(Value, end.value)
    raise RuntimeError("A coroutine over the blocking network was suspended.")


def iterate_now(items: AsyncGenerator[Value, None]) -> Iterator[Value]:
    try:
        while True:
            try:
                item = run_now(items.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        run_now(items.aclose())


class Deadline:
    def __init__(self, seconds: Optional[float]) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def remaining(self) -> Optional[float]:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def bounded(self, seconds: float) -> float:
        remaining = self.remaining()
        return seconds if remaining is None else min(seconds, remaining)

    def has_passed(self) -> bool:
        return self.bounded(1.0) <= TIMER_SLACK_SECONDS

    def timeouts(self) -> httpx.Timeout:
        return httpx.Timeout(self.bounded(IDLE_SECONDS), connect=self.bounded(CONNECT_SECONDS))


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: Mapping[str, str]
    body: Union[bytes, Form, None] = None
    follows_redirects: bool = False


class Answer(ABC):
    """An answer whose body is still on its way."""

    def __init__(self, response: httpx.Response, deadline: Deadline) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self.request_id: Optional[str] = response.headers.get("x-request-id")
        self._deadline = deadline

    @abstractmethod
    async def piece(self) -> Optional[bytes]:
        """None at the end. Raises what the network raises."""

    @abstractmethod
    async def close(self) -> None:
        """Frees the connection; harmless when repeated."""

    async def read(self) -> bytes:
        pieces = []
        while (piece := await self.piece()) is not None:
            pieces.append(piece)
        return b"".join(pieces)

    async def next_piece(self) -> Optional[bytes]:
        """As `piece`, with errors as callers know them. The deadline counts between pieces too, since a stream that drips
        would otherwise outlast it."""
        try:
            piece = await self.piece()
        except FAILURES as cause:
            await self.close()
            raise failure_of(cause, self._deadline, self.request_id)
        if piece is not None and self._deadline.has_passed():
            await self.close()
            raise CallTimeout(self.request_id)
        return piece


def failure_of(cause: Exception, deadline: Deadline, request_id: Optional[str]) -> TollgateError:
    if isinstance(cause, TimeoutError) or (isinstance(cause, httpx.TimeoutException) and deadline.has_passed()):
        error: TollgateError = CallTimeout(request_id)
        error.__cause__ = cause
        return error
    return connection_failed(cause, request_id)


class Network(ABC):
    @abstractmethod
    async def open(self, request: Request, deadline: Deadline) -> Answer: ...

    @abstractmethod
    async def pause(self, seconds: float) -> None: ...

    @abstractmethod
    async def value(self, made: Union[Value, Awaitable[Value]]) -> Value:
        """What a caller's own function has returned, which may be asynchronous where the network is."""

    @abstractmethod
    async def close(self) -> None: ...


class BlockingNetwork(Network):
    def __init__(self, client: Optional[httpx.Client]) -> None:
        self._client = client or httpx.Client()

    async def open(self, request: Request, deadline: Deadline) -> Answer:
        body = request.body.pieces() if isinstance(request.body, Form) else request.body
        message = self._client.build_request(
            request.method, request.url, headers=request.headers, content=body, timeout=deadline.timeouts()
        )
        response = self._client.send(message, stream=True, follow_redirects=request.follows_redirects)
        return BlockingAnswer(response, deadline)

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    async def value(self, made: Union[Value, Awaitable[Value]]) -> Value:
        return cast(Value, made)

    async def close(self) -> None:
        self._client.close()


class BlockingAnswer(Answer):
    def __init__(self, response: httpx.Response, deadline: Deadline) -> None:
        super().__init__(response, deadline)
        self._response = response
        self._pieces = response.iter_bytes()

    async def piece(self) -> Optional[bytes]:
        return next(self._pieces, None)

    async def close(self) -> None:
        self._response.close()


class AsyncNetwork(Network):
    """Under asyncio and trio alike, as httpx is."""

    def __init__(self, client: Optional[httpx.AsyncClient]) -> None:
        self._client = client or httpx.AsyncClient()

    async def open(self, request: Request, deadline: Deadline) -> Answer:
        body = request.body.async_pieces() if isinstance(request.body, Form) else request.body
        message = self._client.build_request(
            request.method, request.url, headers=request.headers, content=body, timeout=deadline.timeouts()
        )
        with anyio.fail_after(deadline.remaining()):
            response = await self._client.send(message, stream=True, follow_redirects=request.follows_redirects)
        return AsyncAnswer(response, deadline)

    async def pause(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def value(self, made: Union[Value, Awaitable[Value]]) -> Value:
        return cast(Value, await made if inspect.isawaitable(made) else made)

    async def close(self) -> None:
        await self._client.aclose()


class AsyncAnswer(Answer):
    def __init__(self, response: httpx.Response, deadline: Deadline) -> None:
        super().__init__(response, deadline)
        self._response = response
        self._pieces = response.aiter_bytes()

    async def piece(self) -> Optional[bytes]:
        with anyio.fail_after(self._deadline.remaining()):
            try:
                return await self._pieces.__anext__()
            except StopAsyncIteration:
                return None

    async def close(self) -> None:
        await self._response.aclose()
