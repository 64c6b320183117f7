/** A cluster in this process that other processes reach over HTTP, and their kubeconfig. */

import type { FakeCluster } from "@workqueue/kubernetes/testing";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** Address of a cluster. Dispose the object to close all connections. */
export interface ServedCluster extends AsyncDisposable {
  /** Kubeconfig in JSON, which is also YAML. */
  readonly kubeconfig: string;
}

/** Serves a cluster on a free port of this machine. */
export async function serveCluster(cluster: FakeCluster): Promise<ServedCluster> {
  const server = createServer(async (request, response) => {
    const closed = new AbortController();
    response.once("close", () => closed.abort(new Error("the client has gone")));
    try {
      const body = await text(request);
      const { status, headers, body: chunks } = await cluster.transport.send({
        method: request.method!,
        path: request.url!,
        headers: request.headers as Record<string, string>,
        ...(body !== "" && { body }),
        signal: closed.signal,
        idleTimeout: 3_600_000,
        isAlone: request.url!.includes("watch=true"),
      });
      response.writeHead(status, headers as Record<string, string>);
      response.flushHeaders();
      for await (const chunk of chunks) response.write(chunk);
      response.end();
    } catch {
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    kubeconfig: JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "here", cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: "anybody", user: {} }],
      contexts: [{ name: "here", context: { cluster: "here", user: "anybody" } }],
      "current-context": "here",
    }),
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
