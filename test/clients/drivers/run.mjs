// Runs checks one after another and prints a line of JSON for each: what the
// application saw, or the error as the SDK shows it. See drivers_test.go.
const { BASE_URL, API_KEY, WRONG_KEY, MODEL, UNKNOWN_MODEL, EMBEDDING_MODEL } = process.env;

export const base = BASE_URL;
export const apiKey = API_KEY;
export const wrongKey = WRONG_KEY;
export const model = MODEL;
export const unknownModel = UNKNOWN_MODEL;
export const embeddingModel = EMBEDDING_MODEL;

export const prompt = 'Say hello.';
export const failoverPrompt = 'Use the second provider.';
export const task = 'What is 6 times 7?';

// The tool that every SDK offers, and what it does.
export const toolName = 'multiply';
export const toolSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
};
export const multiply = ({ a, b }) => `result ${a * b}`;

export async function run(checks) {
  for (const [check, body] of Object.entries(checks)) {
    try {
      print({ check, saw: await body() });
    } catch (e) {
      const last = e?.lastError ?? e; // the AI SDK's error about its retries has none of its own
      print({ check, error: { name: e?.constructor?.name, status: last?.status ?? last?.statusCode ?? 0, message: String(e?.message ?? e) } });
    }
  }
}

// print writes at once, so that a crash loses nothing.
function print(line) {
  process.stdout.write(JSON.stringify(line) + '\n');
}

// collect gathers an async list.
export async function collect(list, pick) {
  const out = [];
  for await (const item of list) out.push(pick(item));
  return out;
}
