import { describe, expect, it } from "vitest";
import { asProblem, fieldErrors, Problem, problemOf } from "./problem";

const invalid = (...paths: string[]) => new Problem({ status: 400, code: "invalid", detail: "no", errors: paths.map((path) => ({ path, message: `wrong ${path}` })) });

describe("fieldErrors", () => {
  it("puts a message at its field, in the form's way to write positions", () => {
    const { byField, rest } = fieldErrors(invalid("members[0].provider"), (p) => p === "members.0.provider");
    expect(byField).toEqual({ "members.0.provider": "wrong members[0].provider" });
    expect(rest).toEqual([]);
  });
  it("takes the nearest field around it", () => {
    expect(fieldErrors(invalid("allowedProviders[1]"), (p) => p === "allowedProviders").byField).toHaveProperty("allowedProviders");
  });
  it("keeps what belongs to no field", () => {
    expect(fieldErrors(invalid("foo"), () => false).rest).toHaveLength(1);
  });
});

describe("problemOf", () => {
  it("is what the server said", async () => {
    const body = { type: "about:blank", title: "Conflict", status: 409, code: "in_use", detail: "route gpt uses it", refs: [{ kind: "Route", name: "gpt" }] };
    const problem = await problemOf(new Response(JSON.stringify(body), { status: 409, headers: { "x-interlock-request-id": "R1" } }));
    expect(problem).toMatchObject({ status: 409, code: "in_use", detail: "route gpt uses it", requestId: "R1", refs: [{ kind: "Route", name: "gpt" }] });
  });
  it("survives an answer that is not JSON", async () => {
    expect(await problemOf(new Response("<html>", { status: 502, statusText: "Bad Gateway" }))).toMatchObject({ code: "unexpected", detail: "502 Bad Gateway" });
  });
  it("makes a failed connection a problem", () => {
    expect(asProblem(new TypeError("Failed to fetch"))).toMatchObject({ status: 0, code: "unreachable" });
  });
});
