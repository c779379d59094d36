"""What goes wrong on the way, at a real gateway behind a server that loses, refuses and cuts answers."""

from pathlib import Path
from typing import Any, Callable

import httpx
import pytest
from between import CUT, LOST, SILENT, WITHOUT_END, Refusal
from conftest import CHAT, IMAGE, IMAGE_PRICE, Caller, new_key

from tollgate import CallTimeout, JobError, TollgateError

Connect = Callable[..., Caller]


def refusal(code: str, status: Any, work: Callable[[], Any]) -> TollgateError:
    with pytest.raises(TollgateError) as caught:
        work()
    assert (caught.value.code, caught.value.status) == (code, status)
    return caught.value


def test_a_job_whose_answer_was_lost_is_asked_for_again_and_made_and_paid_once(connect: Connect) -> None:
    call = connect(LOST)
    job, _ = call("images.generate_and_wait", **IMAGE)
    first, second = (seen.headers["idempotency-key"] for seen in call.between.seen[:2])
    assert first == second and len(first) == 32
    assert [made["id"] for made in call("jobs.list")] == [job["id"]]
    assert call.spent == IMAGE_PRICE


def test_an_answer_that_breaks_off_in_its_middle_is_lost_too(connect: Connect) -> None:
    call = connect(CUT)
    job = call("images.generate", **IMAGE)
    assert len(call.between.seen) == 2
    assert [made["id"] for made in call("jobs.list")] == [job["id"]]
    call("jobs.wait", job["id"])


def test_each_call_has_a_key_of_its_own(call: Caller) -> None:
    one, other = (call("images.generate", **IMAGE)["id"] for _ in range(2))
    assert one != other
    call("jobs.wait", one)
    call("jobs.wait", other)


def test_a_chat_whose_answer_was_lost_is_not_asked_for_again_since_it_may_be_charged(connect: Connect) -> None:
    call = connect(LOST)
    error = refusal("connection_failed", None, lambda: call("chat.create", **CHAT))
    assert isinstance(error.__cause__, httpx.TransportError)
    assert len(call.between.seen) == 1


def test_what_was_never_sent_is_sent_again_whatever_it_is(connect: Connect) -> None:
    call = connect()
    call.between.close()
    error = refusal("connection_failed", None, lambda: call("chat.create", **CHAT, max_retries=1))
    assert isinstance(error.__cause__, httpx.ConnectError)


def test_a_refusal_is_repeated_when_its_retry_after_is_over(connect: Connect) -> None:
    busy = Refusal(503, {"x-should-retry": "true", "retry-after": "1"})
    call = connect(busy, busy)
    assert call("chat.create", **CHAT)["object"] == "chat.completion"
    assert len(call.between.seen) == 3


def test_a_refusal_is_not_repeated_against_the_gateways_word_nor_beyond_a_minute_nor_the_calls_time(
    connect: Connect,
) -> None:
    for headers, options in (
        ({"x-should-retry": "false"}, {}),
        ({"x-should-retry": "true", "retry-after": "61"}, {}),
        ({"x-should-retry": "true", "retry-after": "59"}, {"timeout": 30}),
        ({"x-should-retry": "true"}, {"max_retries": 0}),
    ):
        call = connect(Refusal(503, headers))
        refusal("http_503", 503, lambda: call("credits", **options))
        assert len(call.between.seen) == 1


def test_what_another_program_in_front_refuses_has_its_status_for_a_code(connect: Connect) -> None:
    refusal("http_418", 418, lambda: connect(Refusal(418, {}))("credits"))
    refusal("http_200", 200, lambda: connect(Refusal(200, {}, b"<html>"))("credits"))


CODES = [
    ("model_not_found", 404, {"model": "no/such-model"}),
    ("invalid_n", 400, {"n": 99}),
    ("missing_prompt", 400, {"prompt": None}),
]


@pytest.mark.parametrize("code, status, fields", CODES, ids=[code for code, _, _ in CODES])
def test_an_error_has_the_code_the_field_and_the_request(call: Caller, code: str, status: int, fields: Any) -> None:
    error = refusal(code, status, lambda: call("images.generate", **{**IMAGE, **fields}))
    assert error.param in ("model", "n", "prompt")
    assert error.request_id is not None and error.request_id.startswith("req_")
    assert str(error).endswith(f"({error.request_id})")


def test_a_wrong_key_an_empty_account_and_a_used_key_are_told_once(connect: Connect) -> None:
    wrong = connect(key="sk-wrong")
    refusal("invalid_api_key", 401, lambda: wrong("chat.stream", **CHAT))
    poor = connect(key=new_key(credits=0))
    refusal("insufficient_credits", 402, lambda: poor("images.generate_and_wait", **IMAGE))
    assert (len(wrong.between.seen), len(poor.between.seen)) == (1, 1)
    call = connect()
    job = call("images.generate", **IMAGE, idempotency_key="one")
    other = {**IMAGE, "prompt": "a bridge"}
    refusal("idempotency_conflict", 409, lambda: call("images.generate", **other, idempotency_key="one"))
    call("jobs.wait", job["id"])


def test_a_job_that_fails_says_why_names_itself_and_has_cost_nothing(call: Caller) -> None:
    with pytest.raises(JobError) as caught:
        call("images.generate_and_wait", **IMAGE, extra_body={"sandbox": {"fail": "policy"}})
    assert (caught.value.code, caught.value.job["status"]) == ("content_rejected", "failed")
    assert call.spent == 0


def test_a_stream_that_fails_on_its_way_raises_the_code_of_its_last_frame(call: Caller) -> None:
    faults = {"sandbox": {"fail": "down", "fail_after_frames": 2}}
    refusal("upstream_failed", 200, lambda: call("chat.stream", **CHAT, extra_body=faults))


def test_a_stream_without_its_end_is_no_whole_answer(connect: Connect) -> None:
    refusal("stream_cut", None, lambda: connect(WITHOUT_END)("chat.stream", **CHAT))
    refusal("connection_failed", None, lambda: connect(CUT)("chat.stream", **CHAT))


def test_a_file_that_breaks_off_is_not_saved(connect: Connect, tmp_path: Path) -> None:
    call = connect(CUT)
    speech = call("speak", model="sandbox/speech", input="The gate is open.")
    refusal("connection_failed", None, lambda: call.save(speech, tmp_path / "speech.mp3"))
    assert list(tmp_path.iterdir()) == []


def test_pieces_are_uploaded_once_and_bytes_again(connect: Connect) -> None:
    _, picture = _picture(connect())
    busy = Refusal(503, {"x-should-retry": "true"})
    call = connect(busy)
    refusal("http_503", 503, lambda: call("upload", iter([picture])))
    assert len(call.between.seen) == 1
    again = connect(busy)
    assert again("upload", picture)["bytes"] == len(picture)
    assert again.between.seen[0].body == again.between.seen[1].body


def _picture(call: Caller) -> Any:
    _, assets = call("images.generate_and_wait", **IMAGE)
    return call.media("download", assets[0])


def test_a_call_ends_with_its_timeout_though_the_server_is_silent(connect: Connect) -> None:
    for name, params in (("credits", {}), ("chat.stream", CHAT), ("images.generate_and_wait", IMAGE)):
        call = connect(SILENT)
        with pytest.raises(TimeoutError) as caught:
            call(name, **params, timeout=0.2)
        assert isinstance(caught.value, CallTimeout) and caught.value.code == "timed_out"
        # Not even once where the machine is so busy that the time is over before the server reads.
        assert len(call.between.seen) <= 1


def test_a_wait_that_is_over_leaves_the_job_which_goes_on(call: Caller) -> None:
    seen = []

    def spend_the_time(job: Any) -> None:
        # A callback that raises ends the wait, as an abort would.
        seen.append(job["id"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call("images.generate_and_wait", **IMAGE, on_progress=spend_the_time)
    assert call("jobs.wait", seen[0]).job["status"] == "succeeded"
    with pytest.raises(CallTimeout):
        call("jobs.wait", seen[0], timeout=0)


def test_the_clients_own_timeout_holds_for_calls_that_name_none(connect: Connect) -> None:
    with pytest.raises(CallTimeout):
        connect(SILENT, timeout=0.2)("models")
