"""Sound, a picture or a clip on its way here: take its pieces, or all of its bytes, or save it, once."""

import os
from types import TracebackType
from typing import AsyncGenerator, AsyncIterator, Iterator, Optional, Type, Union

from ._network import Answer, iterate_now, run_now

Path = Union[str, "os.PathLike[str]"]


class _Facts:
    def __init__(self, answer: Answer) -> None:
        headers = answer.headers
        self._answer = answer
        #: Such as `image/png`.
        self.type: str = headers.get("content-type", "application/octet-stream")
        #: How many bytes, where that is known from the start.
        self.size = int(headers["content-length"]) if "content-length" in headers else None
        #: What it cost, where the answer began with that.
        self.credits = float(headers["x-credits-charged"]) if "x-credits-charged" in headers else None
        self.request_id = answer.request_id


class Media(_Facts):
    """Close it, or use it in a `with`, if it is not read to its end."""

    def __iter__(self) -> Iterator[bytes]:
        return iterate_now(_pieces(self._answer))

    def read(self) -> bytes:
        return run_now(_read(self._answer))

    def save(self, path: Path) -> None:
        """The file appears when it is whole, and not at all if the connection breaks off."""
        run_now(_save(self._answer, path))

    def close(self) -> None:
        run_now(self._answer.close())

    def __enter__(self) -> "Media":
        return self

    def __exit__(self, _: Optional[Type[BaseException]], __: Optional[BaseException], ___: Optional[TracebackType]) -> None:
        self.close()


class AsyncMedia(_Facts):
    """Close it, or use it in an `async with`, if it is not read to its end."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _pieces(self._answer)

    async def read(self) -> bytes:
        return await _read(self._answer)

    async def save(self, path: Path) -> None:
        """The file appears when it is whole, and not at all if the connection breaks off."""
        await _save(self._answer, path)

    async def close(self) -> None:
        await self._answer.close()

    async def __aenter__(self) -> "AsyncMedia":
        return self

    async def __aexit__(
        self, _: Optional[Type[BaseException]], __: Optional[BaseException], ___: Optional[TracebackType]
    ) -> None:
        await self.close()


async def _pieces(answer: Answer) -> AsyncGenerator[bytes, None]:
    try:
        while (piece := await answer.next_piece()) is not None:
            yield piece
    finally:
        await answer.close()


async def _read(answer: Answer) -> bytes:
    return b"".join([piece async for piece in _pieces(answer)])


async def _save(answer: Answer, path: Path) -> None:
    part = f"{os.fspath(path)}.part"
    try:
        with open(part, "wb") as file:
            async for piece in _pieces(answer):
                file.write(piece)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
