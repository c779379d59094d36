"""A real server between a client and the gateway, which passes requests on and does to their answers what a test says."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Mapping, Union

import httpx

#: Served by the gateway, and never told to the client.
LOST = "lost"
#: The client waits, and nothing comes until the test ends.
SILENT = "silent"
#: The last event of a stream is left out.
WITHOUT_END = "without end"
#: The connection breaks in the middle of the body.
CUT = "cut"

#: One for all requests to the gateway: each new client reads the certificates of all authorities first.
http = httpx.Client(timeout=300)
STOP_POLL_S = 0.01


@dataclass(frozen=True)
class Refusal:
    """An answer of this server's own."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b"busy"


@dataclass(frozen=True)
class Seen:
    line: str
    headers: Mapping[str, str]
    body: bytes


class Between:
    def __init__(self, target: str, answers: List[Union[str, Refusal]]) -> None:
        """`answers` are for the first requests; those behind them are passed on."""
        self.seen: List[Seen] = []
        self._answers = answers
        self._target = target
        self._ended = threading.Event()
        between = self

        class Requests(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                between._serve(self)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(STOP_POLL_S,), daemon=True).start()

    @property
    def lines(self) -> List[str]:
        return [seen.line for seen in self.seen]

    def close(self) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        headers: Dict[str, str] = {name.lower(): value for name, value in request.headers.items()}
        body = _body_of(request, headers)
        self.seen.append(Seen(f"{request.command} {request.path}", headers, body))
        play = self._answers.pop(0) if self._answers else None
        if isinstance(play, Refusal):
            return _answer(request, play.status, play.headers, play.body)
        if play == SILENT:
            self._ended.wait()
            request.close_connection = True
            return
        passed = {name: value for name, value in headers.items() if name not in HOP_BY_HOP}
        answer = http.request(request.command, self._target + request.path, headers=passed, content=body)
        content = answer.content
        if play == LOST:
            request.close_connection = True
            return
        if play == WITHOUT_END:
            content = content.replace(b"data: [DONE]", b"")
        told = {name: value for name, value in answer.headers.items() if name not in HOP_BY_HOP}
        _answer(request, answer.status_code, told, content, cuts=play == CUT)


HOP_BY_HOP = ("host", "connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "accept-encoding")


def _answer(
    request: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], body: bytes, cuts: bool = False
) -> None:
    request.send_response(status)
    for name, value in headers.items():
        if name != "date":
            request.send_header(name, value)
    request.send_header("content-length", str(len(body)))
    request.end_headers()
    request.wfile.write(body[: len(body) // 2] if cuts else body)
    if cuts:
        request.close_connection = True


def _body_of(request: BaseHTTPRequestHandler, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return request.rfile.read(int(headers.get("content-length", "0")))
    body = b""
    while size := int(request.rfile.readline(), 16):
        body += request.rfile.read(size)
        request.rfile.readline()
    request.rfile.readline()
    return body
