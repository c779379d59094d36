"""What a call may raise. The `code` is what to decide by; the gateway's docs/errors.md has them all."""

from typing import Any, Mapping, Optional

from .contract import Job

#: No answer came, or not all of it: the gateway could not be reached, or the connection was cut.
CONNECTION_FAILED = "connection_failed"
#: A stream ended before its end.
STREAM_CUT = "stream_cut"
#: The time that the caller gave was over.
TIMED_OUT = "timed_out"


class TollgateError(Exception):
    """Every failure of a call."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        param: Optional[str] = None,
        request_id: Optional[str] = None,
    ) -> None:
        super().__init__(message if request_id is None else f"{message} ({request_id})")
        #: One of `ErrorCode`, `connection_failed`, `stream_cut`, `timed_out`, or `http_418` where a proxy answered.
        self.code = code
        #: None where there was no answer.
        self.status = status
        #: The field at fault, such as `reference_images[1]`, where one is known.
        self.param = param
        #: By this the operator of the gateway finds the request.
        self.request_id = request_id


class JobError(TollgateError):
    """A job that ended without a result. Its code says why; what it had reserved was given back."""

    def __init__(self, job: Job) -> None:
        code = job.get("error_code", job["status"])
        super().__init__(f"The job {job['id']} has ended as {job['status']}: {job.get('error', code)}", code=code)
        self.job = job


class CallTimeout(TollgateError, TimeoutError):
    """The `timeout` of the call was over. A job that it has made goes on, and can be waited for again."""

    def __init__(self, request_id: Optional[str] = None) -> None:
        super().__init__("The call took longer than its timeout.", code=TIMED_OUT, request_id=request_id)


def connection_failed(cause: Exception, request_id: Optional[str]) -> TollgateError:
    message = "The gateway could not be reached, or broke off its answer."
    error = TollgateError(message, code=CONNECTION_FAILED, request_id=request_id)
    error.__cause__ = cause
    return error


def error_of_answer(status: int, request_id: Optional[str], body: object) -> TollgateError:
    """A proxy in front of the gateway may have written the answer, so nothing about its shape is sure."""
    envelope = body.get("error") if isinstance(body, dict) else None
    fields: Mapping[str, Any] = envelope if isinstance(envelope, dict) else {}
    message, code, param = (text if isinstance(text := fields.get(name), str) else None for name in ("message", "code", "param"))
    return TollgateError(
        message or f"The gateway answered with status {status}.",
        code=code or f"http_{status}",
        status=status,
        param=param,
        request_id=request_id,
    )
