// openai, Chat Completions and embeddings.
import OpenAI from 'openai';
import { apiKey, base, collect, embeddingModel, failoverPrompt, model, multiply, prompt, run, task, toolName, toolSchema, unknownModel, wrongKey } from './run.mjs';

const client = new OpenAI({ baseURL: base + '/v1', apiKey });
const request = { model, messages: [{ role: 'user', content: prompt }] };

async function toolTask(ask) {
  const messages = [{ role: 'user', content: task }];
  const tools = [{ type: 'function', function: { name: toolName, parameters: toolSchema, strict: true } }];
  for (;;) {
    const { message } = (await ask({ model, messages, tools })).choices[0];
    if (!message.tool_calls?.length) return message.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: multiply(JSON.parse(call.function.arguments)) });
    }
  }
}

await run({
  plain: async () => (await client.chat.completions.create(request)).choices[0].message.content,
  stream: async () => {
    const stream = await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
    return (await collect(stream, (c) => c.choices[0]?.delta?.content ?? '')).join('');
  },
  tools: () => toolTask((r) => client.chat.completions.create(r)),
  'streamed tools': () => toolTask((r) => client.chat.completions.stream(r).finalChatCompletion()),
  models: () => collect(client.models.list(), (m) => m.id),
  embeddings: async () => (await client.embeddings.create({ model: embeddingModel, input: ['a', 'b'] })).data.map((d) => d.embedding.length),
  failover: async () => (await client.chat.completions.create({ model, messages: [{ role: 'user', content: failoverPrompt }] })).choices[0].message.content,
  'unknown model': () => client.chat.completions.create({ ...request, model: unknownModel }),
  'wrong key': () => new OpenAI({ baseURL: base + '/v1', apiKey: wrongKey }).chat.completions.create(request),
});
