"""openai for Python, Responses."""

import json

from openai import OpenAI
from run import FAILOVER_PROMPT, PROMPT, TASK, TOOL_NAME, TOOL_SCHEMA, api_key, base, model, multiply, run, unknown_model, wrong_key

client = OpenAI(base_url=base + "/v1", api_key=api_key)
request = {"model": model, "input": PROMPT, "store": False}


def stream():
    events = client.responses.create(**request, stream=True)
    return "".join(e.delta for e in events if e.type == "response.output_text.delta")


def streamed(**more):
    with client.responses.stream(**more) as s:
        return s.get_final_response()


def tool_task(ask):
    items = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "name": TOOL_NAME, "parameters": TOOL_SCHEMA, "strict": True}]
    while True:
        answer = ask(**{**request, "input": items, "tools": tools})
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        items += [
            {"type": "function_call_output", "call_id": c.call_id, "output": multiply(json.loads(c.arguments))}
            for c in calls
        ]


run({
    "plain": lambda: client.responses.create(**request).output_text,
    "stream": stream,
    "tools": lambda: tool_task(client.responses.create),
    "streamed tools": lambda: tool_task(streamed),
    "failover": lambda: client.responses.create(**{**request, "input": FAILOVER_PROMPT}).output_text,
    "unknown model": lambda: client.responses.create(**{**request, "model": unknown_model}).id,
    "wrong key": lambda: OpenAI(base_url=base + "/v1", api_key=wrong_key).responses.create(**request).id,
})
