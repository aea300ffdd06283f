"""Runs checks one after another and prints a line of JSON for each: what the
application saw, or the error as the SDK shows it. See drivers_test.go."""

import json
import os

base = os.environ["BASE_URL"]
api_key = os.environ["API_KEY"]
wrong_key = os.environ["WRONG_KEY"]
model = os.environ["MODEL"]
unknown_model = os.environ["UNKNOWN_MODEL"]
embedding_model = os.environ["EMBEDDING_MODEL"]

PROMPT = "Say hello."
FAILOVER_PROMPT = "Use the second provider."
TASK = "What is 6 times 7?"
TOOL_NAME = "multiply"
TOOL_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def multiply(arguments):
    """Does what the tool that every SDK offers does."""
    return f"result {arguments['a'] * arguments['b']}"


def run(checks):
    for check, body in checks.items():
        try:
            line = {"check": check, "saw": body()}
        except Exception as e:  # whatever the SDK raises is what people see
            status = getattr(e, "status_code", 0)
            line = {"check": check, "error": {"name": type(e).__name__, "status": status, "message": str(e)}}
        print(json.dumps(line), flush=True)
