"""anthropic for Python."""

from anthropic import Anthropic
from run import FAILOVER_PROMPT, PROMPT, TASK, TOOL_NAME, TOOL_SCHEMA, api_key, base, model, multiply, run, unknown_model, wrong_key

client = Anthropic(base_url=base, api_key=api_key)
request = {"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": PROMPT}]}


def text(message):
    return "".join(b.text for b in message.content if b.type == "text")


def stream():
    with client.messages.stream(**request) as s:
        return "".join(s.text_stream)


def streamed(**more):
    with client.messages.stream(**more) as s:
        return s.get_final_message()


def tool_task(ask):
    messages = [{"role": "user", "content": TASK}]
    tools = [{"name": TOOL_NAME, "description": "Multiplies.", "input_schema": TOOL_SCHEMA}]
    while True:
        answer = ask(**{**request, "messages": messages, "tools": tools})
        if answer.stop_reason != "tool_use":
            return text(answer)
        results = [
            {"type": "tool_result", "tool_use_id": b.id, "content": multiply(b.input)}
            for b in answer.content
            if b.type == "tool_use"
        ]
        messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


run({
    "plain": lambda: text(client.messages.create(**request)),
    "stream": stream,
    "tools": lambda: tool_task(client.messages.create),
    "streamed tools": lambda: tool_task(streamed),
    "models": lambda: [m.id for m in client.models.list()],
    "failover": lambda: text(client.messages.create(**{**request, "messages": [{"role": "user", "content": FAILOVER_PROMPT}]})),
    "unknown model": lambda: client.messages.create(**{**request, "model": unknown_model}),
    "wrong key": lambda: Anthropic(base_url=base, api_key=wrong_key).messages.create(**request),
})
