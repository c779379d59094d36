"""Prints what one call of a library came to, as a line that test/clients/support/steps.ts reads."""

import asyncio
import inspect
import json
import os
import re
import traceback

URL = os.environ["TOLLGATE_URL"]
KEY = os.environ["TOLLGATE_KEY"]
WRONG_KEY = "sk-tg1-wrong"

CHAT = "sandbox/chat"
NO_MODEL = "sandbox/none"
SUM = "What is 12 * 7?"
WEATHER = "What is the weather in Bern?"
CITY = "Tell me of Bern"
TEXTS = ["a gate", "a toll"]
# Of sandbox/embedding, which counts two tokens in each.
TEXTS_PRICE = 0.0004


def step(call):
    """Runs the function below it, which may be async. What it returns is printed."""

    def run(work):
        try:
            line = {"call": call, "value": _value_of(work)}
        except Exception:
            line = {"call": call, "error": traceback.format_exc()}
        print(json.dumps(line, separators=(",", ":")), flush=True)

    return run


def refusal(call):
    """The same for a call that the gateway refuses. What the library raises is printed."""

    def run(work):
        @step(call)
        def _():
            try:
                answer = _value_of(work)
            except Exception as error:
                return {"class": type(error).__name__, "status": _status_of(error), "message": str(error)}
            raise AssertionError(f"nothing was refused: {answer}")

    return run


def price(input_tokens, output_tokens):
    """In credits, of sandbox/chat and sandbox/native."""
    return (input_tokens + 4 * output_tokens) / 1000


def price_told(response):
    """For a hook of httpx, where a library keeps no usage: what the answer says, whole or as a stream, that it cost."""
    response.read()
    return float(re.findall(r'"credits":([\d.e-]+)', response.text)[-1])


# One for all steps: connections of a library belong to the loop that opened them.
_loop = asyncio.new_event_loop()


def _value_of(work):
    result = work()
    return _loop.run_until_complete(result) if inspect.isawaitable(result) else result


def _status_of(error):
    """Libraries name it differently, and some wrap the error of another."""
    for name in ("status_code", "code"):
        if isinstance(getattr(error, name, None), int):
            return getattr(error, name)
    return None if error.__cause__ is None else _status_of(error.__cause__)
