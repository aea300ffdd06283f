// The settings of each client, as they are pasted.
import type { strings } from "./strings";

export type Values = { base: string; key: string; model: string };
export type Snippet = { title: string; code: (v: Values) => string };
export type Api = "messages" | "chat" | "responses";
export type Client = {
  id: string;
  name: string;
  group: "agents" | "editors" | "sdks";
  // How its test request is sent, and which models suit it.
  api: Api;
  note?: keyof (typeof strings)["en"]["notes"];
  snippets: Snippet[];
};

const q = JSON.stringify;

const openaiEnv: Snippet = { title: "shell", code: (v) => `export OPENAI_BASE_URL=${v.base}/v1\nexport OPENAI_API_KEY=${v.key}` };
const anthropicEnv: Snippet = { title: "shell", code: (v) => `export ANTHROPIC_BASE_URL=${v.base}\nexport ANTHROPIC_API_KEY=${v.key}` };

export const clients: Client[] = [
  {
    id: "claude-code", name: "Claude Code", group: "agents", api: "messages", note: "claude",
    snippets: [
      { title: "shell", code: (v) => `export ANTHROPIC_BASE_URL=${v.base}\nexport ANTHROPIC_AUTH_TOKEN=${v.key}\nclaude --model ${v.model}` },
      { title: "~/.claude/settings.json", code: (v) => JSON.stringify({ env: { ANTHROPIC_BASE_URL: v.base, ANTHROPIC_AUTH_TOKEN: v.key }, model: v.model }, null, 2) },
    ],
  },
  {
    id: "codex", name: "Codex", group: "agents", api: "responses", note: "codex",
    snippets: [
      { title: "~/.codex/config.toml", code: (v) => `model = ${q(v.model)}\nmodel_provider = "interlock"\n\n[model_providers.interlock]\nname = "Interlock"\nbase_url = ${q(`${v.base}/v1`)}\nwire_api = "responses"\nenv_key = "INTERLOCK_KEY"` },
      { title: "shell", code: (v) => `export INTERLOCK_KEY=${v.key}\ncodex` },
    ],
  },
  {
    id: "opencode", name: "OpenCode", group: "agents", api: "chat", note: "opencode",
    snippets: [
      {
        title: "opencode.json",
        code: (v) =>
          JSON.stringify(
            { $schema: "https://opencode.ai/config.json", provider: { interlock: { npm: "@ai-sdk/openai-compatible", name: "Interlock", options: { baseURL: `${v.base}/v1`, apiKey: v.key }, models: { [v.model]: {} } } }, model: `interlock/${v.model}` },
            null,
            2,
          ),
      },
    ],
  },
  { id: "cursor", name: "Cursor", group: "editors", api: "chat", note: "cursor", snippets: [{ title: "Override OpenAI Base URL", code: (v) => `${v.base}/v1` }, { title: "OpenAI API Key", code: (v) => v.key }, { title: "Add model", code: (v) => v.model }] },
  {
    id: "continue", name: "Continue", group: "editors", api: "chat", note: "continue",
    snippets: [{ title: "config.yaml", code: (v) => `name: Interlock\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: ${v.model}\n    provider: openai\n    model: ${v.model}\n    apiBase: ${v.base}/v1\n    apiKey: ${v.key}` }],
  },
  { id: "cline", name: "Cline, Roo Code", group: "editors", api: "chat", note: "cline", snippets: [{ title: "Base URL", code: (v) => `${v.base}/v1` }, { title: "API Key", code: (v) => v.key }, { title: "Model ID", code: (v) => v.model }] },
  {
    id: "openai-python", name: "OpenAI, Python", group: "sdks", api: "chat", note: "env",
    snippets: [openaiEnv, { title: "python", code: (v) => `from openai import OpenAI\n\nclient = OpenAI(base_url=${q(`${v.base}/v1`)}, api_key=${q(v.key)})\nanswer = client.chat.completions.create(\n    model=${q(v.model)},\n    messages=[{"role": "user", "content": "Hello"}],\n)\nprint(answer.choices[0].message.content)` }],
  },
  {
    id: "openai-node", name: "OpenAI, Node", group: "sdks", api: "chat", note: "env",
    snippets: [openaiEnv, { title: "typescript", code: (v) => `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: ${q(`${v.base}/v1`)}, apiKey: ${q(v.key)} });\nconst answer = await client.chat.completions.create({\n  model: ${q(v.model)},\n  messages: [{ role: "user", content: "Hello" }],\n});\nconsole.log(answer.choices[0].message.content);` }],
  },
  {
    id: "openai-go", name: "OpenAI, Go", group: "sdks", api: "chat", note: "env",
    snippets: [openaiEnv, { title: "go", code: (v) => `client := openai.NewClient(\n\toption.WithBaseURL(${q(`${v.base}/v1`)}),\n\toption.WithAPIKey(${q(v.key)}),\n)\nanswer, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{\n\tModel:    ${q(v.model)},\n\tMessages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},\n})` }],
  },
  {
    id: "anthropic-python", name: "Anthropic, Python", group: "sdks", api: "messages", note: "env",
    snippets: [anthropicEnv, { title: "python", code: (v) => `from anthropic import Anthropic\n\nclient = Anthropic(base_url=${q(v.base)}, api_key=${q(v.key)})\nanswer = client.messages.create(\n    model=${q(v.model)},\n    max_tokens=256,\n    messages=[{"role": "user", "content": "Hello"}],\n)\nprint(answer.content[0].text)` }],
  },
  {
    id: "anthropic-node", name: "Anthropic, Node", group: "sdks", api: "messages", note: "env",
    snippets: [anthropicEnv, { title: "typescript", code: (v) => `import Anthropic from "@anthropic-ai/sdk";\n\nconst client = new Anthropic({ baseURL: ${q(v.base)}, apiKey: ${q(v.key)} });\nconst answer = await client.messages.create({\n  model: ${q(v.model)},\n  max_tokens: 256,\n  messages: [{ role: "user", content: "Hello" }],\n});\nconsole.log(answer.content);` }],
  },
  {
    id: "anthropic-go", name: "Anthropic, Go", group: "sdks", api: "messages", note: "env",
    snippets: [anthropicEnv, { title: "go", code: (v) => `client := anthropic.NewClient(\n\toption.WithBaseURL(${q(v.base)}),\n\toption.WithAPIKey(${q(v.key)}),\n)\nanswer, err := client.Messages.New(ctx, anthropic.MessageNewParams{\n\tModel:     ${q(v.model)},\n\tMaxTokens: 256,\n\tMessages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello"))},\n})` }],
  },
  {
    id: "curl", name: "curl", group: "sdks", api: "chat",
    snippets: [
      { title: "chat completions", code: (v) => curl(v, "chat") },
      { title: "messages", code: (v) => curl(v, "messages") },
    ],
  },
];

// A single quote ends the shell's text: it is closed, escaped and opened again.
const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(v: Values, api: Api): string {
  const { path, body } = testRequest(api, v.model, "Hello");
  return `curl ${v.base}${path} \\\n  -H "Authorization: Bearer ${v.key}" \\\n  -H 'content-type: application/json' \\\n  -d ${shell(JSON.stringify(body))}`;
}

// testRequest is a small request in the client's form.
export function testRequest(api: Api, model: string, prompt: string): { path: string; body: object } {
  const messages = [{ role: "user", content: prompt }];
  if (api === "messages") return { path: "/v1/messages", body: { model, max_tokens: 64, messages } };
  if (api === "responses") return { path: "/v1/responses", body: { model, input: prompt, max_output_tokens: 64, store: false } };
  return { path: "/v1/chat/completions", body: { model, messages } };
}

type Text = { text?: string };
type Answer = { choices?: { message?: { content?: string } }[]; content?: Text[]; output?: { content?: Text[] }[]; error?: { message?: string } };

// textOf is what was answered, in whichever of the three forms.
export function textOf(answer: unknown): string {
  const a = answer as Answer;
  const parts = a.choices?.map((c) => c.message?.content) ?? a.content?.map((c) => c.text) ?? a.output?.flatMap((o) => o.content?.map((c) => c.text));
  return (parts ?? []).filter(Boolean).join("\n");
}

// suits says if a model is one that people use with that interface.
export function suits(api: Api, model: string): boolean {
  const claude = /claude|anthropic/i.test(model);
  if (api === "messages") return claude;
  if (api === "responses") return /^(gpt|o\d|codex|openai)/i.test(model);
  return true;
}
