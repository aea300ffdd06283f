// The question of a dry run as it stands in the address of the page, so that a
// link is all that has to be shared.
import type { Schemas } from "../../api/client";

export type Question = {
  model: string;
  endpoint: string;
  key: string;
  session: string;
  tokens: string;
  stream: boolean;
  callerCredential: boolean;
  noFallback: boolean;
  headers: string;
  params: string;
  down: string[];
  parked: string[];
  failures: string[];
};

export const empty: Question = {
  model: "", endpoint: "", key: "", session: "", tokens: "", stream: false, callerCredential: false, noFallback: false, headers: "", params: "", down: [], parked: [], failures: [],
};

const list = (text?: string) => (text ? text.split(",").filter(Boolean) : []);

export function fromSearch(s: Record<string, string | undefined>): Question {
  return {
    model: s.model ?? "", endpoint: s.endpoint ?? "", key: s.key ?? "", session: s.session ?? "", tokens: s.tokens ?? "",
    stream: s.stream === "1", callerCredential: s.own === "1", noFallback: s.once === "1", headers: s.headers ?? "", params: s.params ?? "",
    down: list(s.down), parked: list(s.parked), failures: list(s.failures),
  };
}

export function toSearch(q: Question): Record<string, string | undefined> {
  const some = (text: string) => text || undefined;
  return {
    model: some(q.model), endpoint: some(q.endpoint), key: some(q.key), session: some(q.session), tokens: some(q.tokens), stream: q.stream ? "1" : undefined,
    own: q.callerCredential ? "1" : undefined, once: q.noFallback ? "1" : undefined, headers: some(q.headers), params: some(q.params),
    down: some(q.down.join(",")), parked: some(q.parked.join(",")), failures: some(q.failures.join(",")),
  };
}

// headersOf reads "name: value" lines; it returns the first line that is none.
export function headersOf(text: string): { headers: Record<string, string>; wrong?: string } {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n").map((l) => l.trim()).filter(Boolean)) {
    const at = line.indexOf(":");
    if (at < 1) return { headers, wrong: line };
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return { headers };
}

export function paramsOf(text: string): { params?: Record<string, unknown>; wrong?: true } {
  if (!text.trim()) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { params: parsed as Record<string, unknown> } : { wrong: true };
  } catch {
    return { wrong: true };
  }
}

export function requestOf(q: Question): Schemas["DryRunRequest"] {
  const { headers } = headersOf(q.headers);
  if (q.noFallback) headers["x-interlock-no-fallback"] = "true";
  const { params } = paramsOf(q.params);
  return {
    model: q.model,
    ...(q.endpoint ? { endpoint: q.endpoint } : {}),
    ...(q.key ? { key: q.key } : {}),
    ...(q.session ? { session: q.session } : {}),
    ...(q.tokens ? { promptTokens: Number(q.tokens) } : {}),
    ...(q.stream ? { stream: true } : {}),
    ...(q.callerCredential ? { callerCredential: true } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(params ? { params } : {}),
    ...(q.down.length + q.parked.length > 0 ? { assume: { down: q.down, parked: q.parked } } : {}),
    ...(q.failures.length > 0 ? { failures: q.failures } : {}),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

// commandOf is the same question for a terminal.
export function commandOf(q: Question): string {
  const args = ["interlock explain", `--model ${quoted(q.model)}`];
  if (q.endpoint) args.push(`--endpoint ${q.endpoint}`);
  if (q.key) args.push(`--key ${quoted(q.key)}`);
  if (q.session) args.push(`--session ${quoted(q.session)}`);
  if (q.tokens) args.push(`--prompt-tokens ${q.tokens}`);
  if (q.stream) args.push("--stream");
  if (q.callerCredential) args.push("--caller-credential");
  q.down.forEach((p) => args.push(`--down ${quoted(p)}`));
  q.parked.forEach((p) => args.push(`--parked ${quoted(p)}`));
  q.failures.forEach((f) => args.push(`--failure ${f}`));
  Object.entries(requestOf(q).headers ?? {}).forEach(([k, v]) => args.push(`--header ${quoted(`${k}=${v}`)}`));
  return args.join(" ");
}
