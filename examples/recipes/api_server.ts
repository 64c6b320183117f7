/**
 * As much of a Kubernetes API server as `controller.ts` needs, in memory and on loopback: it lists and
 * watches websites and stores their status. It stands in for a cluster where there is none.
 *
 * @module
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** An object as the server keeps it. */
export interface ApiObject {
  metadata: { namespace: string; name: string; generation?: number; resourceVersion?: string };
  spec?: unknown;
  status?: unknown;
}

/** What a watch sends, and the version that the server had reached with it. */
interface WatchEvent {
  type: "ADDED" | "MODIFIED";
  object: ApiObject;
  version: number;
}

const COLLECTION = "/apis/example.dev/v1/websites";
const STATUS = /^\/apis\/example\.dev\/v1\/namespaces\/([^/]+)\/websites\/([^/]+)\/status$/;

/** The server. Disposing it cuts all connections. */
export class ApiServer implements AsyncDisposable {
  /** Is awaited before a status is stored: here a demo or a test comes in between. */
  beforeUpdate: (object: ApiObject) => void | Promise<void> = () => {};
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #objects = new Map<string, ApiObject>();
  readonly #events: WatchEvent[] = [];
  readonly #watches = new Set<ServerResponse>();

  /** Starts a server on a free port. */
  static async start(): Promise<ApiServer> {
    const server = new ApiServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** A kubeconfig that leads here. JSON is YAML. */
  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const cluster = { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "here", cluster }],
      users: [{ name: "anybody", user: {} }],
      contexts: [{ name: "here", context: { cluster: "here", user: "anybody" } }],
      "current-context": "here",
    });
  }

  /** Says how a website should be, as `kubectl apply` does. */
  apply(namespace: string, name: string, spec: unknown): void {
    const old = this.#objects.get(`${namespace}/${name}`);
    const generation = (old?.metadata.generation ?? 0) + 1;
    this.#store({ ...old, metadata: { namespace, name, generation }, spec });
  }

  /** The status that was written last; `undefined` if none was. */
  status(key: string): unknown {
    return this.#objects.get(key)?.status;
  }

  /** Ends the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #store({ metadata, ...rest }: ApiObject): ApiObject {
    const key = `${metadata.namespace}/${metadata.name}`;
    const version = this.#events.length + 1;
    const type = this.#objects.has(key) ? "MODIFIED" : "ADDED";
    const object = { ...rest, metadata: { ...metadata, resourceVersion: String(version) } };
    this.#objects.set(key, object);
    this.#events.push({ type, object, version });
    for (const watch of this.#watches) watch.write(JSON.stringify({ type, object }) + "\n");
    return object;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, "http://localhost");
    const [, namespace, name] = STATUS.exec(pathname) ?? [];
    if (request.method === "PUT" && name !== undefined) {
      await this.#updateStatus(`${namespace}/${name}`, await json(request) as ApiObject, response);
    } else if (request.method !== "GET" || pathname !== COLLECTION) {
      reply(response, 404, { message: "not found" });
    } else if (searchParams.get("watch") === "true") {
      this.#watch(Number(searchParams.get("resourceVersion")), response);
    } else {
      const metadata = { resourceVersion: String(this.#events.length) };
      reply(response, 200, { metadata, items: [...this.#objects.values()] });
    }
  }

  /** Sends what happened since the version, and goes on with what happens from now on. */
  #watch(since: number, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    for (const { type, object, version } of this.#events) {
      if (version > since) response.write(JSON.stringify({ type, object }) + "\n");
    }
    this.#watches.add(response);
    response.once("close", () => this.#watches.delete(response));
  }

  /** Refuses a status that was made from an older version of the object, so that no update is lost. */
  async #updateStatus(key: string, object: ApiObject, response: ServerResponse): Promise<void> {
    await this.beforeUpdate(object);
    const current = this.#objects.get(key);
    if (current === undefined) reply(response, 404, { message: "not found" });
    else if (object.metadata.resourceVersion !== current.metadata.resourceVersion) {
      reply(response, 409, { message: "the object has been modified" });
    } else reply(response, 200, this.#store({ ...current, status: object.status }));
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
