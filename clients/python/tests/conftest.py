"""Fixtures over a real gateway, which test/python/python-client.test.ts starts, with the sandbox behind it."""

import asyncio
import inspect
import os
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Callable, Iterator, List, Optional, Tuple, Union

import pytest
from between import Between, http

from tollgate import AsyncTollgate, Tollgate

URL = os.environ["TOLLGATE_TEST_URL"]
ADMIN_TOKEN = os.environ["TOLLGATE_TEST_ADMIN_TOKEN"]

IMAGE = {"model": "sandbox/image", "prompt": "a gate", "size": "256x256"}
CHAT = {"model": "sandbox/chat", "messages": [{"role": "user", "content": "Hello"}]}
IMAGE_PRICE = 10


def admin(method: str, path: str, body: Any = None) -> Any:
    headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    answer = http.request(method, f"{URL}/api/admin{path}", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def new_key(credits: int = 1000) -> str:
    """Of an account of its own, which may ask as often as a test needs."""
    account = admin("POST", "/accounts", {"name": "Test"})["id"]
    if credits:
        admin("POST", f"/accounts/{account}/grants", {"credits": credits})
    key: str = admin("POST", f"/accounts/{account}/keys", {"name": "test", "rpm": 100_000})["key"]
    return key


@dataclass
class Caller:
    """Either client behind one way to call it, so that each behaviour is proved of both."""

    client: Union[Tollgate, AsyncTollgate]
    loop: Optional[asyncio.AbstractEventLoop]
    between: Between

    def __call__(self, name: str, *args: Any, **params: Any) -> Any:
        """Streams and lists come as lists, and media as (media, bytes)."""
        made = attrgetter(name)(self.client)(*args, **params)
        if self.loop is None:
            return list(made) if inspect.isgenerator(made) else made
        return self.loop.run_until_complete(_all_of(made) if inspect.isasyncgen(made) else made)

    def media(self, name: str, *args: Any, **params: Any) -> Tuple[Any, bytes]:
        media = self(name, *args, **params)
        read = media.read()
        return media, read if self.loop is None else self.loop.run_until_complete(read)

    def save(self, media: Any, path: Any) -> None:
        saved = media.save(path)
        if self.loop is not None:
            self.loop.run_until_complete(saved)

    @property
    def spent(self) -> float:
        spent: float = self("credits")["spent"]
        return spent


async def _all_of(items: Any) -> List[Any]:
    return [item async for item in items]


@pytest.fixture(params=["blocking", "asynchronous"])
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Caller]]:
    """Makes callers whose requests go through a server between them and the gateway."""
    callers: List[Caller] = []

    def make(*answers: Any, key: Optional[str] = None, **options: Any) -> Caller:
        between = Between(URL, list(answers))
        key = new_key() if key is None else key
        if request.param == "blocking":
            caller = Caller(Tollgate(f"{between.url}/v1", api_key=key, **options), None, between)
        else:
            loop = asyncio.new_event_loop()
            caller = Caller(AsyncTollgate(between.url, api_key=key, **options), loop, between)
        callers.append(caller)
        return caller

    yield make
    for caller in callers:
        caller("close")
        if caller.loop is not None:
            caller.loop.run_until_complete(caller.loop.shutdown_asyncgens())
            caller.loop.close()
        caller.between.close()


@pytest.fixture
def call(connect: Callable[..., Caller]) -> Caller:
    return connect()
