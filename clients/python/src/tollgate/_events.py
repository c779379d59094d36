"""Server-sent events as they come in pieces of bytes. Knows nothing of where the pieces come from."""

import codecs
import json
from typing import Any, Iterator, Optional

from .errors import STREAM_CUT, TollgateError, error_of_answer

DONE = "[DONE]"


class EventReader:
    """The JSON of each event until `[DONE]`. Raises on an event that is an error, and where the stream ends without
    `[DONE]`: half an answer is never taken for a whole one."""

    def __init__(self, status: int, request_id: Optional[str]) -> None:
        self._status = status
        self._request_id = request_id
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rest = ""
        self.is_done = False

    def feed(self, piece: bytes) -> Iterator[Any]:
        # Lines end with a line feed alone: str.splitlines would also cut at characters that may stand in a text.
        *lines, self._rest = (self._rest + self._decoder.decode(piece)).split("\n")
        for line in lines:
            if not line.startswith("data:"):
                continue
            data = line[len("data:") :].strip()
            if data == DONE:
                self.is_done = True
                return
            event = json.loads(data)
            if isinstance(event, dict) and event.get("error") is not None:
                raise error_of_answer(self._status, self._request_id, event)
            yield event

    def end(self) -> None:
        if not self.is_done:
            message = "The stream ended before it was complete."
            raise TollgateError(message, code=STREAM_CUT, request_id=self._request_id)
