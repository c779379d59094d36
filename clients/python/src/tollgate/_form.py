"""A form with one file, written here because httpx takes no iterables of bytes as files, and none that are asynchronous."""

import os
import re
import secrets
from typing import IO, AsyncIterable, AsyncIterator, Iterator, Optional, Sequence, Tuple, cast

from ._params import AsyncUpload, Upload

PIECE_BYTES = 64 * 1024


class Form:
    def __init__(
        self,
        upload: AsyncUpload,
        fields: Sequence[Tuple[str, str]] = (),
        *,
        filename: Optional[str] = None,
        type: Optional[str] = None,
    ) -> None:
        if isinstance(upload, str):
            raise TypeError("A path is given as a pathlib.Path, and text as bytes.")
        boundary = f"tollgate-{secrets.token_hex(16)}"
        name = filename or (os.path.basename(upload) if isinstance(upload, os.PathLike) else "file")
        parts = [f'--{boundary}\r\ncontent-disposition: form-data; name="{field}"\r\n\r\n{value}\r\n' for field, value in fields]
        parts.append(
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{_harmless(name)}"\r\n'
            f"content-type: {type or 'application/octet-stream'}\r\n\r\n"
        )
        self._upload = upload
        self._head = "".join(parts).encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self.type = f"multipart/form-data; boundary={boundary}"

    @property
    def is_repeatable(self) -> bool:
        """What is read from a file or an iterator is gone once it was sent."""
        return isinstance(self._upload, (bytes, os.PathLike))

    def length(self) -> Optional[int]:
        """Of the whole form, where it is known: the gateway refuses what is too large before it is sent."""
        if isinstance(self._upload, bytes):
            size = len(self._upload)
        elif isinstance(self._upload, os.PathLike):
            size = os.stat(self._upload).st_size
        else:
            return None
        return len(self._head) + size + len(self._tail)

    def pieces(self) -> Iterator[bytes]:
        """Anew for every attempt."""
        yield self._head
        yield from _pieces_of(cast(Upload, self._upload))
        yield self._tail

    async def async_pieces(self) -> AsyncIterator[bytes]:
        """Local files are read in place: a read of 64 KiB takes less time than handing it to a thread."""
        if isinstance(self._upload, AsyncIterable):
            yield self._head
            async for piece in self._upload:
                yield piece
            yield self._tail
        else:
            for piece in self.pieces():
                yield piece


def _pieces_of(upload: Upload) -> Iterator[bytes]:
    if isinstance(upload, bytes):
        yield upload
    elif isinstance(upload, os.PathLike):
        with open(upload, "rb") as file:
            yield from _read_from(file)
    elif hasattr(upload, "read"):
        yield from _read_from(cast("IO[bytes]", upload))
    else:
        yield from upload


def _read_from(file: "IO[bytes]") -> Iterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece


def _harmless(filename: str) -> str:
    return re.sub(r'["\r\n\\]', "_", filename)
