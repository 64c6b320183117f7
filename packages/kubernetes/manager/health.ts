import { once } from "node:events";
import { createServer } from "node:http";
import type { Cache } from "../cache/cache.ts";
import type { KubeObject } from "../kube_object.ts";

/** Longest time for which a ready process may be without the watch of a kind, in milliseconds. */
const MAX_UNSEEN = 60_000;

/**
 * Answers probes at a port: the process is alive while it runs, and ready while its caches are up to date. Resolves
 * with the function that stops this.
 */
export async function serveHealth(
  caches: readonly Cache<KubeObject>[],
  port: number,
): Promise<() => void> {
  const server = createServer(({ url }, response) => {
    const { status, text } = answerOf(caches, url?.split("?")[0]);
    response.writeHead(status, { "content-type": "text/plain" }).end(text);
  });
  server.listen(port);
  await once(server, "listening"); // rejects if the port is taken
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/** Returns the answer to a request for a path: a status and a text. */
export function answerOf(
  caches: readonly Cache<KubeObject>[],
  path: string | undefined,
): { status: number; text: string } {
  if (path === "/healthz") return { status: 200, text: "ok\n" };
  if (path !== "/readyz") return { status: 404, text: "not found\n" };
  const isReady = caches.every((cache) => cache.isSynced && cache.unseenFor < MAX_UNSEEN);
  return { status: isReady ? 200 : 503, text: caches.map((cache) => `${cache.kind}: ${stateOf(cache)}\n`).join("") };
}

function stateOf({ isSynced, unseenFor }: Cache<KubeObject>): string {
  if (!isSynced) return "not synced";
  const seconds = Math.round(unseenFor / 1000);
  return seconds === 0 ? "watching" : `last seen ${seconds} s ago`;
}
