import { once } from "node:events";
import { createServer } from "node:http";
import type { Cache } from "../cache/cache.ts";
import type { KubeObject } from "../kube_object.ts";

/** Longest time for which a ready process may be without the watch of a kind, in milliseconds. */
const MAX_UNSEEN = 60_000;

/** Health of a manager: alive while it runs, and ready while its caches are up to date. */
export class Health {
  readonly #caches: readonly Cache<KubeObject>[];
  readonly #synced = new Set<Cache<KubeObject>>();

  constructor(caches: readonly Cache<KubeObject>[]) {
    this.#caches = caches;
    for (const cache of caches) cache.synced.then(() => this.#synced.add(cache));
  }

  /** Returns the answer to a request for a path: a status and a text. */
  answer(path: string | undefined): { readonly status: number; readonly text: string } {
    if (path === "/healthz") return { status: 200, text: "ok\n" };
    if (path !== "/readyz") return { status: 404, text: "not found\n" };
    const isReady = this.#caches.every((cache) => this.#synced.has(cache) && cache.unseenFor < MAX_UNSEEN);
    const lines = this.#caches.map((cache) => `${cache.kind}: ${this.#stateOf(cache)}\n`);
    return { status: isReady ? 200 : 503, text: lines.join("") };
  }

  #stateOf(cache: Cache<KubeObject>): string {
    if (!this.#synced.has(cache)) return "not synced";
    const seconds = Math.round(cache.unseenFor / 1000);
    return seconds === 0 ? "watching" : `last seen ${seconds} s ago`;
  }
}

/** Answers probes at a port. Resolves with the function that stops it. */
export async function serveHealth(health: Health, port: number, host: string | undefined): Promise<() => void> {
  const server = createServer(({ url }, response) => {
    const { status, text } = health.answer(url?.split("?")[0]);
    response.writeHead(status, { "content-type": "text/plain" }).end(text);
  });
  server.listen(port, host);
  await once(server, "listening"); // rejects if the port is taken
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
