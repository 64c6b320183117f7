import type { ReplayStore } from "../conformance/engines/store.ts";
import { LimiterScript } from "./limiter_script.ts";
import { TimedServer } from "./timed_server.ts";

/** Connects to a server on which traces are replayed. */
export async function openReplays(url: string): Promise<ReplayStore & AsyncDisposable> {
  const server = await TimedServer.connect(url);
  return {
    open: (...args) => server.engine(...args),
    openLimiters: (name) => LimiterScript.connect(url, name),
    clear: (name) => server.clear(name),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
