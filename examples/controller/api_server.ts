/**
 * A small in-memory Kubernetes API server on loopback, to run `controller.ts` without a cluster. The server stores
 * websites and config maps, lists and watches them, rejects updates based on old versions, and honors finalizers. When
 * an object is deleted, the server also deletes the objects that the deleted object owned.
 *
 * @module
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** Stored object. */
export interface ApiObject {
  metadata: {
    namespace: string;
    name: string;
    uid?: string;
    generation?: number;
    resourceVersion?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    ownerReferences?: { uid: string }[];
  };
  spec?: unknown;
  status?: unknown;
  data?: unknown;
}

/** Certificate of a server, its key, and the certificate of the authority that signed it, in PEM form. */
export interface ApiTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

type Plural = "websites" | "configmaps";

/** Change to an object, with the version of the server's data after the change. */
interface WatchEvent {
  plural: Plural;
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: ApiObject;
  version: number;
}

const PATH =
  /^\/apis?\/(?:example\.dev\/)?v1(?:\/namespaces\/([^/]+))?\/(websites|configmaps)(?:\/([^/]+))?(\/status)?$/;

/** API server. Dispose the object to stop the server and close all connections. */
export class ApiServer implements AsyncDisposable {
  /** Hook for demos and tests: the server calls and awaits it before it stores a status. */
  beforeUpdate: (object: ApiObject) => void | Promise<void> = () => {};
  /** Hook for tests: the server calls and awaits it before it answers a request. If it returns `false`, refuses it. */
  beforeAnswer: (method: string, url: URL) => void | boolean | Promise<void | boolean> = () => {};
  readonly #server: Server;
  readonly #tls: ApiTls | undefined;
  readonly #objects = { websites: new Map<string, ApiObject>(), configmaps: new Map<string, ApiObject>() };
  readonly #events: WatchEvent[] = [];
  readonly #watches = new Map<ServerResponse, Plural>();

  private constructor(tls: ApiTls | undefined) {
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    this.#tls = tls;
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  }

  /** Starts a server on a free port, over TLS if certificates are given. */
  static async start(tls?: ApiTls): Promise<ApiServer> {
    const server = new ApiServer(tls);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** Kubeconfig for this server, in JSON (any JSON document is also valid YAML). */
  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const cluster = this.#tls === undefined
      ? { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true }
      : { server: `https://127.0.0.1:${port}`, "certificate-authority-data": btoa(this.#tls.ca) };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "here", cluster }],
      users: [{ name: "anybody", user: {} }],
      contexts: [{ name: "here", context: { cluster: "here", user: "anybody" } }],
      "current-context": "here",
    });
  }

  /** Creates or changes a website, as `kubectl apply` does. */
  apply(namespace: string, name: string, spec: unknown): void {
    const old = this.#objects.websites.get(`${namespace}/${name}`);
    const generation = (old?.metadata.generation ?? 0) + 1;
    this.#store("websites", { ...old, metadata: { ...old?.metadata, namespace, name, generation }, spec });
  }

  /**
   * Deletes an object, as `kubectl delete` does. The object is removed immediately, or when its last finalizer has been
   * removed.
   */
  delete(plural: Plural, key: string): void {
    const object = this.#objects[plural].get(key);
    if (object === undefined) return;
    const { metadata } = object;
    if ((metadata.finalizers ?? []).length === 0) return this.#remove(plural, object);
    const generation = (metadata.generation ?? 0) + 1;
    this.#store(plural, {
      ...object,
      metadata: { ...metadata, generation, deletionTimestamp: new Date().toISOString() },
    });
  }

  /** Returns a stored object; `undefined` if the object does not exist. */
  get(plural: Plural, key: string): ApiObject | undefined {
    return this.#objects[plural].get(key);
  }

  /** Returns the last status of a website; `undefined` if none was written. */
  status(key: string): unknown {
    return this.get("websites", key)?.status;
  }

  /** Number of open watches. */
  get watches(): number {
    return this.#watches.size;
  }

  /** Ends all watches, as a server does that restarts. */
  endWatches(): void {
    for (const watch of this.#watches.keys()) watch.end();
    this.#watches.clear();
  }

  /** Stops the server and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #store(plural: Plural, { metadata, ...rest }: ApiObject): ApiObject {
    const key = `${metadata.namespace}/${metadata.name}`;
    const version = this.#events.length + 1;
    const type = this.#objects[plural].has(key) ? "MODIFIED" : "ADDED";
    const uid = metadata.uid ?? `uid-${version}`;
    const object = { ...rest, metadata: { ...metadata, uid, resourceVersion: String(version) } };
    this.#objects[plural].set(key, object);
    this.#publish({ plural, type, object, version });
    return object;
  }

  #remove(plural: Plural, object: ApiObject): void {
    const { namespace, name, uid } = object.metadata;
    this.#objects[plural].delete(`${namespace}/${name}`);
    this.#publish({ plural, type: "DELETED", object, version: this.#events.length + 1 });
    for (const [key, { metadata }] of this.#objects.configmaps) {
      if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) this.delete("configmaps", key);
    }
  }

  #publish(event: WatchEvent): void {
    this.#events.push(event);
    for (const [watch, plural] of this.#watches) if (plural === event.plural) send(watch, event);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, "http://localhost");
    const isRefused = await this.beforeAnswer(request.method!, url) === false;
    if (isRefused) return reply(response, 503, { message: "unavailable" });
    const { pathname, searchParams } = url;
    const [path, namespace, plural, name, status] = PATH.exec(pathname) as unknown as
      & [string, string, Plural, string]
      & string[] ?? [];
    if (path === undefined) {
      reply(response, 404, { message: "not found" });
    } else if (request.method === "POST") {
      const object = await json(request) as ApiObject;
      const isThere = this.get(plural, `${namespace}/${object.metadata.name}`) !== undefined;
      if (isThere) return reply(response, 409, { message: "the object is there already" });
      reply(response, 201, this.#store(plural, { ...object, metadata: { ...object.metadata, namespace } }));
    } else if (request.method === "PUT") {
      await this.#update(
        plural,
        `${namespace}/${name}`,
        await json(request) as ApiObject,
        status !== undefined,
        response,
      );
    } else if (searchParams.get("watch") === "true") {
      this.#watch(plural, Number(searchParams.get("resourceVersion")), response);
    } else {
      const metadata = { resourceVersion: String(this.#events.length) };
      reply(response, 200, { metadata, items: [...this.#objects[plural].values()] });
    }
  }

  /** Sends all changes made after the version `since`, and then each later change as it happens. */
  #watch(plural: Plural, since: number, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    for (const event of this.#events) if (event.plural === plural && event.version > since) send(response, event);
    this.#watches.set(response, plural);
    response.once("close", () => this.#watches.delete(response));
  }

  /** Stores an update. Rejects an update that is based on an older version of the object, so that no update is lost. */
  async #update(plural: Plural, key: string, update: ApiObject, isStatus: boolean, response: ServerResponse) {
    if (isStatus) await this.beforeUpdate(update);
    const current = this.get(plural, key);
    if (current === undefined) return reply(response, 404, { message: "not found" });
    if (update.metadata.resourceVersion !== current.metadata.resourceVersion) {
      return reply(response, 409, { message: "the object has been modified" });
    }
    if (isStatus) return reply(response, 200, this.#store(plural, { ...current, status: update.status }));
    const isOver = current.metadata.deletionTimestamp !== undefined && (update.metadata.finalizers ?? []).length === 0;
    if (isOver) this.#remove(plural, current);
    reply(response, 200, isOver ? update : this.#store(plural, { ...update, status: current.status }));
  }
}

function send(watch: ServerResponse, { type, object }: WatchEvent): void {
  watch.write(JSON.stringify({ type, object }) + "\n");
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
