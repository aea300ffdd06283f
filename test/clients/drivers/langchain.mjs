// @langchain/openai: langchain.mjs chat|responses
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { apiKey, base, embeddingModel, failoverPrompt, model, multiply, prompt, run, task, toolName, toolSchema, unknownModel, wrongKey } from './run.mjs';

const configuration = { baseURL: base + '/v1' };
const responses = process.argv[2] === 'responses';
const make = (options = {}) => new ChatOpenAI({ model, apiKey, configuration, useResponsesApi: responses, ...options });
const llm = make();
const withTools = llm.bindTools([{ type: 'function', function: { name: toolName, description: 'Multiplies.', parameters: toolSchema } }]);

async function whole(stream) {
  let message;
  for await (const chunk of stream) message = message ? message.concat(chunk) : chunk;
  return message;
}

async function toolTask(ask) {
  const messages = [new HumanMessage(task)];
  for (;;) {
    const answer = await ask(messages);
    if (!answer.tool_calls?.length) return answer.text;
    messages.push(answer, ...answer.tool_calls.map((call) => new ToolMessage({ tool_call_id: call.id, content: multiply(call.args) })));
  }
}

await run({
  plain: async () => (await llm.invoke(prompt)).text,
  stream: async () => (await whole(await llm.stream(prompt))).text,
  tools: () => toolTask((m) => withTools.invoke(m)),
  'streamed tools': () => toolTask(async (m) => whole(await withTools.stream(m))),
  ...(!responses && {
    embeddings: async () => [(await new OpenAIEmbeddings({ model: embeddingModel, apiKey, configuration }).embedQuery('a')).length],
  }),
  failover: async () => (await llm.invoke(failoverPrompt)).text,
  // By default it repeats a 503 six times, which takes minutes.
  'unknown model': () => make({ model: unknownModel, maxRetries: 0 }).invoke(prompt),
  'wrong key': () => make({ apiKey: wrongKey, maxRetries: 0 }).invoke(prompt),
});
