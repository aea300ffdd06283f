// One EventSource for all of the console. Pages subscribe to what they show;
// the connection is there while somebody is signed in.
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Schemas } from "./client";
import { keys, queryClient } from "./query";

type Events = {
  config: Schemas["LiveConfig"];
  request: Schemas["LiveRecord"];
  health: Schemas["LiveHealth"];
  dropped: Schemas["LiveDropped"];
};
type Name = keyof Events;
export type Live = "off" | "connecting" | "on" | "lost";

const names: Name[] = ["config", "request", "health", "dropped"];
const handlers: { [N in Name]: Set<(data: Events[N]) => void> } = { config: new Set(), request: new Set(), health: new Set(), dropped: new Set() };
const watchers = new Set<() => void>();

let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let live: Live = "off";

function setLive(next: Live): void {
  if (live === next) return;
  live = next;
  watchers.forEach((w) => w());
}

function emit(name: Name, raw: string): void {
  try {
    const parsed: unknown = JSON.parse(raw);
    (handlers[name] as Set<(d: unknown) => void>).forEach((h) => h(parsed));
  } catch {
    // Not for this version of the console.
  }
}

export function connect(): void {
  if (source || typeof EventSource === "undefined") return;
  clearTimeout(retry);
  setLive(failures > 0 ? "lost" : "connecting");
  source = new EventSource("/api/v1/events");
  source.onopen = () => {
    // What was said meanwhile was not heard.
    if (failures > 0) void queryClient.invalidateQueries({ predicate: (q) => q.queryKey[0] !== "auth" });
    failures = 0;
    setLive("on");
  };
  source.onerror = () => {
    failures++;
    setLive("lost");
    if (source?.readyState !== EventSource.CLOSED) return; // it tries again by itself
    source = undefined;
    retry = setTimeout(connect, Math.min(30_000, 1000 * 2 ** Math.min(failures, 5)));
  };
  for (const name of names) source.addEventListener(name, (e) => emit(name, (e as MessageEvent<string>).data));
}

export function disconnect(): void {
  clearTimeout(retry);
  source?.close();
  source = undefined;
  failures = 0;
  setLive("off");
}

export function on<N extends Name>(name: N, handler: (data: Events[N]) => void): () => void {
  handlers[name].add(handler);
  return () => void handlers[name].delete(handler);
}

// useEvent calls the newest handler for each event while the page is shown.
export function useEvent<N extends Name>(name: N, handler: (data: Events[N]) => void): void {
  const newest = useRef(handler);
  useEffect(() => {
    newest.current = handler;
  });
  useEffect(() => on(name, (d) => newest.current(d)), [name]);
}

export function useLive(): Live {
  return useSyncExternalStore(
    (w) => {
      watchers.add(w);
      return () => watchers.delete(w);
    },
    () => live,
  );
}

// What is on screen follows the server without anybody asking.
on("config", () => void queryClient.invalidateQueries({ queryKey: keys.config }));
on("health", () => void queryClient.invalidateQueries({ queryKey: keys.health }));
