"""openai for Python, Chat Completions and embeddings."""

import json

from openai import OpenAI
from run import FAILOVER_PROMPT, PROMPT, TASK, TOOL_NAME, TOOL_SCHEMA, api_key, base, embedding_model, model, multiply, run, unknown_model, wrong_key

client = OpenAI(base_url=base + "/v1", api_key=api_key)
request = {"model": model, "messages": [{"role": "user", "content": PROMPT}]}


def stream():
    chunks = client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True})
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def streamed(**more):
    with client.chat.completions.stream(**more) as s:
        return s.get_final_completion()


def tool_task(ask):
    messages = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "function": {"name": TOOL_NAME, "parameters": TOOL_SCHEMA, "strict": True}}]
    while True:
        message = ask(model=model, messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": c.id, "content": multiply(json.loads(c.function.arguments))}
            for c in message.tool_calls
        ]


run({
    "plain": lambda: client.chat.completions.create(**request).choices[0].message.content,
    "stream": stream,
    "tools": lambda: tool_task(client.chat.completions.create),
    "streamed tools": lambda: tool_task(streamed),
    "models": lambda: [m.id for m in client.models.list()],
    "embeddings": lambda: [len(d.embedding) for d in client.embeddings.create(model=embedding_model, input=["a", "b"]).data],
    "failover": lambda: client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": FAILOVER_PROMPT}]
    ).choices[0].message.content,
    "unknown model": lambda: client.chat.completions.create(**{**request, "model": unknown_model}).id,
    "wrong key": lambda: OpenAI(base_url=base + "/v1", api_key=wrong_key).chat.completions.create(**request).id,
})
