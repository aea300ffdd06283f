// The AI SDK with one of its providers: ai-sdk.mjs anthropic|responses|chat|compatible
import { embed, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { apiKey, base, embeddingModel, failoverPrompt, model, multiply, prompt, run, task, toolName, toolSchema, unknownModel, wrongKey } from './run.mjs';

const baseURL = base + '/v1';
const make = {
  anthropic: (id, key) => createAnthropic({ baseURL, apiKey: key })(id),
  responses: (id, key) => createOpenAI({ baseURL, apiKey: key })(id),
  chat: (id, key) => createOpenAI({ baseURL, apiKey: key }).chat(id),
  compatible: (id, key) => createOpenAICompatible({ name: 'interlock', baseURL, apiKey: key, includeUsage: true })(id),
}[process.argv[2]];
const embeddings = {
  chat: () => createOpenAI({ baseURL, apiKey }).embedding(embeddingModel),
  compatible: () => createOpenAICompatible({ name: 'interlock', baseURL, apiKey }).textEmbeddingModel(embeddingModel),
}[process.argv[2]];

const tools = { [toolName]: tool({ description: 'Multiplies.', inputSchema: jsonSchema(toolSchema), execute: async (input) => multiply(input) }) };
const withTools = { model: make(model, apiKey), prompt: task, tools, stopWhen: stepCountIs(5) };

// streamed raises what streamText only reports, and gives the last step's text.
async function streamed(options) {
  let failure;
  const result = streamText({ ...options, onError: ({ error }) => { failure = error; } });
  await result.consumeStream();
  if (failure) throw failure;
  return result.text;
}

await run({
  plain: async () => (await generateText({ model: make(model, apiKey), prompt })).text,
  stream: () => streamed({ model: make(model, apiKey), prompt }),
  tools: async () => (await generateText(withTools)).text,
  'streamed tools': () => streamed(withTools),
  ...(embeddings && { embeddings: async () => [(await embed({ model: embeddings(), value: 'a' })).embedding.length] }),
  failover: async () => (await generateText({ model: make(model, apiKey), prompt: failoverPrompt })).text,
  'unknown model': () => generateText({ model: make(unknownModel, apiKey), prompt }),
  'wrong key': () => generateText({ model: make(model, wrongKey), prompt }),
});
