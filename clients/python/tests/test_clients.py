"""What only one of the two clients can do, with the types that callers see: mypy reads this file as well."""

import asyncio
import threading
from typing import List

import httpx
from conftest import ADMIN_TOKEN, URL, new_key

from tollgate import AsyncTollgate, ChatMessage, Job, JobError, Tollgate

MESSAGES: List[ChatMessage] = [{"role": "user", "content": "Hello"}]


def test_a_loop_that_is_left_ends_the_request() -> None:
    with Tollgate(URL, api_key=new_key()) as tollgate:
        chunks = tollgate.chat.stream(model="sandbox/chat", messages=MESSAGES)
        assert next(chunks)["object"] == "chat.completion.chunk"
        del chunks
        while tollgate.credits()["reserved"] > 0:
            pass


def test_a_cancelled_task_ends_its_call_and_the_client_goes_on() -> None:
    async def main() -> str:
        async with AsyncTollgate(URL, api_key=new_key()) as tollgate:
            made = asyncio.Event()

            async def on_progress(job: Job) -> None:
                jobs.append(job)
                made.set()
                await asyncio.Event().wait()

            jobs: List[Job] = []
            task = asyncio.ensure_future(
                tollgate.images.generate_and_wait(
                    model="sandbox/image", prompt="a gate", size="256x256", on_progress=on_progress
                )
            )
            await made.wait()
            task.cancel()
            assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
            return (await tollgate.jobs.wait(jobs[0]["id"])).job["status"]

    assert asyncio.run(main()) == "succeeded"


def test_of_many_at_once_four_wait_at_the_gateway_and_the_others_are_polled() -> None:
    sent: List[httpx.Request] = []

    async def remember(request: httpx.Request) -> None:
        sent.append(request)

    async def token() -> str:
        return key

    async def main() -> None:
        async with httpx.AsyncClient(event_hooks={"request": [remember]}) as http_client:
            tollgate = AsyncTollgate(URL, api_key=token, http_client=http_client)
            ended = await asyncio.gather(
                *(
                    tollgate.images.generate_and_wait(
                        model="sandbox/image", prompt="a gate", extra_body={"sandbox": {"fail": "policy"}}
                    )
                    for _ in range(6)
                ),
                return_exceptions=True,
            )
            assert all(isinstance(end, JobError) for end in ended), ended

    key = new_key()
    asyncio.run(main())
    creates = [request for request in sent if request.method == "POST"]
    assert (len(creates), len([create for create in creates if "prefer" in create.headers])) == (6, 4)


def test_threads_share_a_client() -> None:
    answers: List[str] = []
    with Tollgate(URL, api_key=lambda: key) as tollgate:
        key = new_key()

        def chat() -> None:
            answers.append(tollgate.chat.create(model="sandbox/chat", messages=MESSAGES)["object"])

        threads = [threading.Thread(target=chat) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == ["chat.completion"] * 4


def test_headers_of_the_client_and_of_the_call_are_sent_and_a_proxy_may_add_the_key() -> None:
    sent: List[httpx.Request] = []
    with httpx.Client(event_hooks={"request": [sent.append]}) as http_client:
        tollgate = Tollgate(URL, headers={"x-team": "films"}, http_client=http_client)
        tollgate.credits(headers={"authorization": f"Bearer {new_key()}"})
    assert sent[0].headers["x-team"] == "films"
    assert ADMIN_TOKEN not in str(sent[0].headers)
