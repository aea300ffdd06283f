// openai, Responses.
import OpenAI from 'openai';
import { apiKey, base, collect, failoverPrompt, model, multiply, prompt, run, task, toolName, toolSchema, unknownModel, wrongKey } from './run.mjs';

const client = new OpenAI({ baseURL: base + '/v1', apiKey });
const request = { model, input: prompt, store: false };

async function toolTask(ask) {
  const input = [{ role: 'user', content: task }];
  const tools = [{ type: 'function', name: toolName, parameters: toolSchema, strict: true }];
  for (;;) {
    const answer = await ask({ ...request, input, tools });
    const calls = answer.output.filter((item) => item.type === 'function_call');
    if (!calls.length) return answer.output_text;
    input.push(...answer.output.map(({ parsed, parsed_arguments, ...item }) => item));
    for (const call of calls) {
      input.push({ type: 'function_call_output', call_id: call.call_id, output: multiply(JSON.parse(call.arguments)) });
    }
  }
}

await run({
  plain: async () => (await client.responses.create(request)).output_text,
  stream: async () => {
    const stream = await client.responses.create({ ...request, stream: true });
    return (await collect(stream, (e) => (e.type === 'response.output_text.delta' ? e.delta : ''))).join('');
  },
  tools: () => toolTask((r) => client.responses.create(r)),
  'streamed tools': () => toolTask((r) => client.responses.stream(r).finalResponse()),
  failover: async () => (await client.responses.create({ ...request, input: failoverPrompt })).output_text,
  'unknown model': () => client.responses.create({ ...request, model: unknownModel }),
  'wrong key': () => new OpenAI({ baseURL: base + '/v1', apiKey: wrongKey }).responses.create(request),
});
