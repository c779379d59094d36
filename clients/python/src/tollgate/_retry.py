"""Whether and when a request is sent again, and how a job is polled. Pure; seconds throughout."""

from email.utils import parsedate_to_datetime
from typing import Mapping, Optional

FIRST_RETRY = 0.5
RETRY_MAX = 8.0
#: A gateway that wants to be left alone for longer is obeyed by giving up.
RETRY_AFTER_MAX = 60.0
FIRST_POLL = 0.5
POLL_MAX = 5.0


def should_retry(status: int, headers: Mapping[str, str], is_repeatable: bool) -> bool:
    """The gateway says it by `x-should-retry`. Without that header, the answer is of a proxy in front of it, and only
    what is repeatable (reads, and creates with an idempotency key) is sent again, unless the proxy was too busy to pass
    it on."""
    if retry_after(headers) > RETRY_AFTER_MAX:
        return False
    advice = headers.get("x-should-retry")
    if advice is not None:
        return advice == "true"
    return status == 429 or (is_repeatable and (status == 408 or status >= 500))


def retry_delay(retry: int, headers: Optional[Mapping[str, str]], random: float) -> float:
    """At least what `Retry-After` wants, and jitter on top of it, so that callers who were refused together do not
    return together."""
    wanted = 0.0 if headers is None else retry_after(headers)
    if wanted > 0:
        return wanted * (1 + random / 4)
    return _jittered(min(RETRY_MAX, FIRST_RETRY * 2.0**retry), random)


def poll_delay(poll: int, random: float) -> float:
    """Jittered back-off: short at first, for pictures, and longer for what takes minutes. The exponent is bounded,
    since a job may be polled for days and a float must not overflow."""
    return _jittered(min(POLL_MAX, FIRST_POLL * 1.5 ** min(poll, 100)), random)


def _jittered(seconds: float, random: float) -> float:
    """Between half of it and all of it."""
    return seconds * (0.5 + random / 2)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds, or a date, which is compared with the answer's own so that two clocks need not agree. 0 where neither
    can be read."""
    wanted = headers.get("retry-after", "0")
    try:
        return max(0.0, float(wanted))
    except ValueError:
        pass
    try:
        later, now = (parsedate_to_datetime(date) for date in (wanted, headers.get("date", "")))
        return max(0.0, (later - now).total_seconds())
    except (TypeError, ValueError):
        return 0.0
