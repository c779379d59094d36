"""Prints what one call of a library came to, as a line that test/clients/support/steps.ts reads."""

import json
import traceback


def step(call, work):
    try:
        line = {"call": call, "value": work()}
    except Exception:
        line = {"call": call, "error": traceback.format_exc()}
    print(json.dumps(line, separators=(",", ":")), flush=True)
