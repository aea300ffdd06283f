// @anthropic-ai/sdk.
import Anthropic from '@anthropic-ai/sdk';
import { apiKey, base, collect, failoverPrompt, model, multiply, prompt, run, task, toolName, toolSchema, unknownModel, wrongKey } from './run.mjs';

const client = new Anthropic({ baseURL: base, apiKey });
const request = { model, max_tokens: 64, messages: [{ role: 'user', content: prompt }] };
const text = (message) => message.content.filter((b) => b.type === 'text').map((b) => b.text).join('');

// toolTask answers tool calls until there is none; ask makes one turn.
async function toolTask(ask) {
  const messages = [{ role: 'user', content: task }];
  const tools = [{ name: toolName, description: 'Multiplies.', input_schema: toolSchema }];
  for (;;) {
    const answer = await ask({ ...request, messages, tools });
    if (answer.stop_reason !== 'tool_use') return text(answer);
    const results = answer.content
      .filter((b) => b.type === 'tool_use')
      .map((b) => ({ type: 'tool_result', tool_use_id: b.id, content: multiply(b.input) }));
    messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content: results });
  }
}

await run({
  plain: async () => text(await client.messages.create(request)),
  stream: async () => {
    let seen = '';
    for await (const e of await client.messages.create({ ...request, stream: true })) seen += e.delta?.text ?? '';
    return seen;
  },
  tools: () => toolTask((r) => client.messages.create(r)),
  'streamed tools': () => toolTask((r) => client.messages.stream(r).finalMessage()),
  models: () => collect(client.models.list(), (m) => m.id),
  failover: async () => text(await client.messages.create({ ...request, messages: [{ role: 'user', content: failoverPrompt }] })),
  'unknown model': () => client.messages.create({ ...request, model: unknownModel }),
  'wrong key': () => new Anthropic({ baseURL: base, apiKey: wrongKey }).messages.create(request),
});
