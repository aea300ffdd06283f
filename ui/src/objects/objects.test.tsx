// The frame with a kind of its own: fields, texts and a binding are all there is.
import { TextInput } from "@mantine/core";
import { createMemoryHistory, createRootRoute, createRoute, createRouter, Outlet, RouterProvider } from "@tanstack/react-router";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { show } from "../../test/render";

const server = vi.hoisted(() => {
  const fetch = vi.fn<(request: Request) => Promise<Response>>();
  globalThis.fetch = fetch as never;
  return fetch;
});
const { collection } = await import("./collection");
const { defineForm } = await import("./form");
const { ObjectDetail, ObjectPage } = await import("./ObjectDetail");
const { ObjectEdit } = await import("./ObjectEdit");

const departments = collection("/departments");
const form = defineForm({
  of: departments,
  values: (d) => ({ name: d?.name ?? "", description: d?.description ?? "" }),
  input: (v, before) => ({ ...before, name: v.name, description: v.description || undefined }),
});

const object = { kind: "Department", name: "research", description: "Research", managedBy: "api", enabled: false };
const json = (status: number, body?: unknown, headers = {}) => new Response(body === undefined ? null : JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

type Sent = { call: string; ifMatch: string | null; body: unknown };
let sent: Sent[];
let refuse: Response | undefined;
beforeEach(() => {
  sent = [];
  refuse = undefined;
  server.mockImplementation(async (request) => {
    const { pathname, search } = new URL(request.url);
    const path = pathname.replace("/api/v1", "") + search;
    if (path === "/auth/state") return json(200, { user: { name: "ada", role: "gateway-admin" } });
    if (request.method === "GET") return json(200, object, { etag: '"7"' });
    sent.push({ call: `${request.method} ${path}`, ifMatch: request.headers.get("if-match"), body: request.method === "PUT" ? await request.json() : undefined });
    if (refuse) return refuse.clone();
    if (request.method === "DELETE") return json(204);
    return json(200, { revision: 8, changes: [{ kind: "Department", name: "research", action: "update", fields: [{ path: "description", before: "Research", after: "Science" }] }] });
  });
});

function Edit() {
  return (
    <ObjectEdit def={form} labels={{ description: "Title" }}>
      {({ form: f }) => <TextInput label="Title" {...f.getInputProps("description")} />}
    </ObjectEdit>
  );
}

function Detail() {
  return (
    <ObjectPage of={departments}>
      {(loaded) => (
        <ObjectDetail of={departments} loaded={loaded} state={{ tone: "good", text: "Fine" }} remove={{ title: "Delete research?", consequences: ["Its teams stay."] }}>
          {loaded.value.description}
        </ObjectDetail>
      )}
    </ObjectPage>
  );
}

function open(path: string) {
  const root = createRootRoute({ component: Outlet });
  const page = (at: string, component: () => React.JSX.Element) => createRoute({ getParentRoute: () => root, path: at, component });
  const routeTree = root.addChildren([page("/departments", () => <h1>Departments</h1>), page("/departments/$name", Detail), page("/departments/$name/edit", Edit)]);
  show(<RouterProvider router={createRouter({ routeTree, history: createMemoryHistory({ initialEntries: [path] }) }) as never} />);
}

describe("ObjectEdit", () => {
  const change = async () => {
    open("/departments/research/edit");
    const title = await screen.findByLabelText("Title");
    await userEvent.clear(title);
    await userEvent.type(title, "Science");
    await userEvent.click(screen.getByRole("button", { name: "Review and save" }));
  };
  it("says what changes, then saves over the version that was loaded, with what the form does not know", async () => {
    await change();
    expect(await screen.findByText("Title: Research becomes Science")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByRole("heading", { level: 1, name: /research/ })).toBeVisible();
    const body = expect.objectContaining({ description: "Science", enabled: false });
    expect(sent).toEqual([
      { call: "PUT /departments/research?dryRun=true", ifMatch: '"7"', body },
      { call: "PUT /departments/research", ifMatch: '"7"', body },
    ]);
  });
  it("puts what the server refuses at its field, and saves nothing", async () => {
    refuse = json(400, { code: "invalid", detail: "1 problem", errors: [{ path: "description", message: "is taken" }] });
    await change();
    expect(await screen.findByText("is taken")).toBeVisible();
    await waitFor(() => expect(screen.getByLabelText("Title")).toHaveFocus());
    expect(sent).toHaveLength(1);
  });
  it("offers the new version when somebody was faster", async () => {
    refuse = json(412, { code: "stale", detail: "changed" });
    await change();
    await userEvent.click(await screen.findByRole("button", { name: "Load the new version" }));
    expect(await screen.findByDisplayValue("Research")).toBeVisible();
  });
  it("asks before what was typed gets lost", async () => {
    open("/departments/research/edit");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await userEvent.click(screen.getByRole("link", { name: "Cancel" }));
    expect(await screen.findByText("Leave without saving?")).toBeVisible();
  });
});

describe("ObjectDetail", () => {
  it("says what a deletion breaks, deletes this version, and leaves", async () => {
    open("/departments/research");
    await userEvent.click(await screen.findByRole("button", { name: "Delete" }));
    expect(await screen.findByText("Its teams stay.")).toBeVisible();
    await userEvent.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
    expect(await screen.findByRole("heading", { name: "Departments" })).toBeVisible();
    expect(sent).toEqual([{ call: "DELETE /departments/research", ifMatch: '"7"', body: undefined }]);
  });
});
