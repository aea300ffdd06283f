// What the gallery offers. The rules of each vendor (URLs, how a key is sent,
// how failures look) are the server's catalogue; here is what a person needs to
// choose one and to fill its form.
import type { Schemas } from "../../api/client";

type Input = Schemas["ProviderInput"];
export type Format = { value: NonNullable<Input["wireFormat"]>; type: Input["type"] };

export type Vendor = {
  id: string;
  title: string;
  group: "vendors" | "hubs" | "own";
  // One line of what it has.
  text: { en: string; sv: string };
  type: Input["type"];
  // The name in the server's catalogue, if the type alone does not say it.
  vendor?: string;
  env?: string;
  keyHint?: string;
  baseUrl?: string;
  needsUrl?: boolean;
  keyless?: boolean;
  residency?: string;
  // The interfaces to choose from, if there is more than one.
  formats?: Format[];
  needsPatterns?: boolean;
};

const chat: Format = { value: "openai-chat", type: "openai-compatible" };
const responses: Format = { value: "openai-responses", type: "openai-compatible" };
const messages: Format = { value: "anthropic-messages", type: "anthropic" };
const compatible = "openai-compatible" as const;

export const vendors: Vendor[] = [
  { id: "anthropic", title: "Anthropic", group: "vendors", type: "anthropic", env: "ANTHROPIC_API_KEY", keyHint: "sk-ant-…", text: { en: "Claude models, Messages API", sv: "Claude-modeller, Messages API" } },
  { id: "openai", title: "OpenAI", group: "vendors", type: "openai", env: "OPENAI_API_KEY", keyHint: "sk-…", text: { en: "GPT models, Chat Completions and Responses", sv: "GPT-modeller, Chat Completions och Responses" } },
  { id: "mistral", title: "Mistral AI", group: "vendors", type: compatible, vendor: "mistral", env: "MISTRAL_API_KEY", residency: "eu", text: { en: "Mistral, Codestral, Magistral", sv: "Mistral, Codestral, Magistral" } },
  { id: "xai", title: "xAI", group: "vendors", type: compatible, vendor: "xai", env: "XAI_API_KEY", formats: [chat, responses], text: { en: "Grok models", sv: "Grok-modeller" } },
  { id: "deepseek", title: "DeepSeek", group: "vendors", type: compatible, vendor: "deepseek", env: "DEEPSEEK_API_KEY", formats: [chat, messages], text: { en: "DeepSeek models", sv: "DeepSeek-modeller" } },
  { id: "kimi", title: "Moonshot Kimi", group: "vendors", type: compatible, vendor: "kimi", env: "MOONSHOT_API_KEY", formats: [chat, messages], text: { en: "Kimi models", sv: "Kimi-modeller" } },
  { id: "zai", title: "Z.ai", group: "vendors", type: compatible, vendor: "zai", env: "ZAI_API_KEY", formats: [chat, messages], text: { en: "GLM models", sv: "GLM-modeller" } },
  { id: "groq", title: "Groq", group: "hubs", type: compatible, vendor: "groq", env: "GROQ_API_KEY", needsPatterns: true, text: { en: "Open models, very fast", sv: "Öppna modeller, mycket snabbt" } },
  { id: "cerebras", title: "Cerebras", group: "hubs", type: compatible, vendor: "cerebras", env: "CEREBRAS_API_KEY", needsPatterns: true, text: { en: "Open models, very fast", sv: "Öppna modeller, mycket snabbt" } },
  { id: "fireworks", title: "Fireworks AI", group: "hubs", type: compatible, vendor: "fireworks", env: "FIREWORKS_API_KEY", needsPatterns: true, text: { en: "Open models and fine-tunes", sv: "Öppna och finjusterade modeller" } },
  { id: "together", title: "Together AI", group: "hubs", type: compatible, vendor: "together", env: "TOGETHER_API_KEY", needsPatterns: true, text: { en: "Open models", sv: "Öppna modeller" } },
  { id: "openrouter", title: "OpenRouter", group: "hubs", type: compatible, vendor: "openrouter", env: "OPENROUTER_API_KEY", needsPatterns: true, formats: [chat, responses, messages], text: { en: "Many vendors behind one key", sv: "Många leverantörer bakom en nyckel" } },
  { id: "vllm", title: "vLLM", group: "own", type: compatible, vendor: "vllm", keyless: true, needsUrl: true, baseUrl: "http://127.0.0.1:8000/v1", residency: "on-prem", needsPatterns: true, formats: [chat, responses], text: { en: "Your own GPU server", sv: "Din egen GPU-server" } },
  { id: "ollama", title: "Ollama", group: "own", type: compatible, vendor: "ollama", keyless: true, baseUrl: "http://localhost:11434/v1", residency: "on-prem", needsPatterns: true, formats: [chat, responses, messages], text: { en: "Models on this machine", sv: "Modeller på den här maskinen" } },
  { id: "litellm", title: "LiteLLM proxy", group: "own", type: compatible, vendor: "litellm", needsUrl: true, needsPatterns: true, formats: [chat, responses, messages], text: { en: "A proxy that you run already", sv: "En proxy som du redan kör" } },
  { id: "compatible", title: "OpenAI-compatible", group: "own", type: compatible, needsUrl: true, needsPatterns: true, formats: [chat, responses], text: { en: "Anything that speaks Chat Completions", sv: "Allt som talar Chat Completions" } },
];

// Types that the API knows and this version does not serve.
export const later = ["Azure OpenAI", "Azure AI Foundry", "Amazon Bedrock", "Google Vertex AI", "Google Gemini", "ChatGPT", "GitHub Copilot"];

export function vendorOf(provider: { type: Input["type"]; vendor?: string }): Vendor | undefined {
  return vendors.find((v) => v.vendor === provider.vendor && v.vendor !== undefined) ?? vendors.find((v) => v.type === provider.type && v.vendor === undefined);
}
