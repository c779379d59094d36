"""Pure decisions, by table."""

from typing import Dict

import pytest

from tollgate._retry import poll_delay, retry_delay, should_retry

CASES = [
    ("the gateway says so", 503, {"x-should-retry": "true"}, False, True),
    ("the gateway says not to, though it could be repeated", 503, {"x-should-retry": "false"}, True, False),
    ("the gateway says so, in a minute", 429, {"x-should-retry": "true", "retry-after": "60"}, False, True),
    ("the gateway says so, in more than a minute", 429, {"x-should-retry": "true", "retry-after": "61"}, True, False),
    ("a proxy was too busy to pass it on", 429, {}, False, True),
    ("a proxy got no answer to what can be repeated", 502, {}, True, True),
    ("a proxy got no answer to what may have been charged", 502, {}, False, False),
    ("a refusal without a word about it", 400, {}, True, False),
]


@pytest.mark.parametrize("what, status, headers, is_repeatable, expected", CASES, ids=[case[0] for case in CASES])
def test_whether_a_request_is_sent_again(
    what: str, status: int, headers: Dict[str, str], is_repeatable: bool, expected: bool
) -> None:
    assert should_retry(status, headers, is_repeatable) is expected


def test_the_back_off_doubles_up_to_eight_seconds_and_jitter_takes_up_to_half_of_it() -> None:
    assert [retry_delay(retry, None, 1) for retry in range(6)] == [0.5, 1, 2, 4, 8, 8]
    assert [retry_delay(retry, None, 0) for retry in range(6)] == [0.25, 0.5, 1, 2, 4, 4]


def test_retry_after_is_obeyed_in_seconds_and_as_a_date_and_jitter_only_adds_to_it() -> None:
    date, later = "Wed, 18 Nov 2026 02:00:00 GMT", "Wed, 18 Nov 2026 02:00:07 GMT"
    assert [retry_delay(0, {"retry-after": "7"}, random) for random in (0, 1)] == [7, 8.75]
    assert retry_delay(0, {"retry-after": later, "date": date}, 0) == 7
    for unreadable in ("soon", later, "-1", "nan"):
        assert retry_delay(0, {"retry-after": unreadable}, 1) == 0.5, unreadable


def test_a_job_is_polled_less_and_less_often_every_five_seconds_in_the_end() -> None:
    assert [poll_delay(poll, 1) for poll in (0, 1, 20, 1_000_000)] == [0.5, 0.75, 5, 5]
    assert poll_delay(20, 0) == 2.5
