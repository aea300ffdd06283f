import type { components } from "./schema";

export type FieldProblem = components["schemas"]["FieldError"];
export type Ref = components["schemas"]["Ref"];
type Body = components["schemas"]["Problem"];

// Problem is the one error of API calls: what the server said (RFC 9457), or
// that it could not be asked (code "unreachable", status 0).
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly fields: FieldProblem[];
  readonly refs: Ref[];
  readonly requestId?: string;
  readonly retryAfter?: number;

  constructor(body: Pick<Body, "status" | "code" | "detail"> & Partial<Body>, more: { requestId?: string; retryAfter?: number } = {}) {
    super(body.detail);
    this.name = "Problem";
    this.status = body.status;
    this.code = body.code;
    this.detail = body.detail;
    this.fields = body.errors ?? [];
    this.refs = body.refs ?? [];
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  const retry = Number(response.headers.get("retry-after"));
  const more = {
    requestId: response.headers.get("x-interlock-request-id") ?? undefined,
    retryAfter: Number.isFinite(retry) && retry > 0 ? retry : undefined,
  };
  try {
    const body = (await response.clone().json()) as Body;
    if (typeof body.detail === "string") return new Problem({ ...body, status: response.status }, more);
  } catch {
    // Not JSON: something in between answered.
  }
  return new Problem({ status: response.status, code: "unexpected", detail: `${response.status} ${response.statusText}`.trim() }, more);
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({ status: 0, code: "unreachable", detail: error instanceof Error ? error.message : String(error) });
}

// fieldErrors are the messages by form field; "members[0].provider" of the
// server is "members.0.provider" of @mantine/form. What belongs to no field of
// the form is in rest.
export function fieldErrors(problem: Problem, has: (path: string) => boolean): { byField: Record<string, string>; rest: FieldProblem[] } {
  const byField: Record<string, string> = {};
  const rest: FieldProblem[] = [];
  for (const field of problem.fields) {
    let path = field.path.replace(/\[(\d+)\]/g, ".$1");
    while (path !== "" && !has(path)) path = path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : "";
    if (path === "") rest.push(field);
    else byField[path] = byField[path] ? `${byField[path]} ${field.message}` : field.message;
  }
  return { byField, rest };
}
