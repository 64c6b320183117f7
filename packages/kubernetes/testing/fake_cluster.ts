import type { Duration } from "@workqueue/core";
import { A_BOOLEAN, requireRules, timeoutRule, tryParseDuration } from "@workqueue/core/internal";
import { pathOf } from "../cache/resource.ts";
import { ApiError, type ApiStatus } from "../client/errors.ts";
import { Client } from "../client/client.ts";
import type { Transport } from "../client/transport.ts";
import type { KubeObject } from "../kube_object.ts";
import { ApiServer } from "./api_server.ts";
import { type ClusterRequest, parseRequest, type Verb } from "./cluster_request.ts";
import { Controllers } from "./controllers.ts";
import type { ObjectList } from "./list.ts";
import { type FailureKind, type FailureOptions, isMatch, Network, type RequestMatch } from "./network.ts";
import { freeze, type Stored } from "./objects.ts";
import {
  type CustomKind,
  definitionOf,
  inVersion,
  placeOf,
  type Resource,
  resourceOfKind,
  rootOf,
} from "./resources.ts";
import { connectionError } from "./response_body.ts";
import { type Snapshot, Store } from "./store.ts";
import { tooOld } from "./watch.ts";
import { type DeleteOptions, Writes } from "./writes.ts";

/** Options of {@linkcode fakeCluster}. */
export interface FakeClusterOptions {
  /** Custom resources: definitions, as in the YAML file for a cluster, or only their kinds. @default {[]} */
  readonly resources?: readonly (CustomKind | KubeObject)[];
  /** Time between the effect of a request and its answer. @default {0} */
  readonly latency?: Duration;
  /** Whether a watch may begin with a list (`sendInitialEvents`), as on servers since 1.34. @default {true} */
  readonly watchList?: boolean;
}

const RULES = { latency: timeoutRule(), watchList: A_BOOLEAN };
const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Client whose results are frozen, so that a program that changes objects of a cache fails in its tests. */
class FreezingClient extends Client {
  protected override parse(name: string, text: string): unknown {
    return freeze(super.parse(name, text));
  }
}

/** Object with a kind. Its namespace is `default` unless its metadata names another. */
export type Identified = Stored | (KubeObject & { readonly apiVersion: string; readonly kind: string });

/** Options of {@linkcode FakeCluster.list}. */
export interface ListOptions {
  /** Namespace of the objects. Default: all namespaces. */
  readonly namespace?: string;
  /** Labels of the objects, such as `app=web,tier in (a, b)`. */
  readonly labelSelector?: string;
  /** Fields of the objects, such as `metadata.name=web`. */
  readonly fieldSelector?: string;
}

/**
 * Cluster in this process, for unit tests of controllers. It answers as a real API server does: with resource versions,
 * conflicts, watches, finalizers and field managers. It collects garbage, and empties deleted namespaces, in the
 * microtask after the change. Works under fake time.
 *
 * The cluster has no nodes, so pods never run. It doesn't check objects against schemas, and fills in only the defaults
 * that controllers rely on: the data of secrets, and the phases of pods and namespaces. An apply merges owners and
 * finalizers one by one, and replaces other lists as a whole. JSON patches, strategic merge patches, and deletions of
 * whole collections are refused.
 *
 * The methods `create`, `get`, `list`, `patch`, `apply` and `delete` act as another client: they take effect at once,
 * and faults don't affect them. All objects are frozen.
 *
 * @example Usage
 * ```ts
 * import { fakeCluster } from "@workqueue/kubernetes/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const cluster = fakeCluster();
 * cluster.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { color: "red" } });
 * const found = await cluster.client.request("GET", "/api/v1/namespaces/default/configmaps/a");
 * assertEquals(found, cluster.get("v1", "ConfigMap", "default/a"));
 * ```
 */
export class FakeCluster {
  /** Client of the cluster. */
  readonly client: Client;
  /** Carries the requests of other clients to the cluster. */
  readonly transport: Transport;
  readonly #store = new Store();
  readonly #network: Network;
  readonly #server: ApiServer;

  /** Creates a cluster. Use {@linkcode fakeCluster}. */
  constructor(options: FakeClusterOptions = {}) {
    const { resources = [], latency, watchList = true, ...others } = options;
    requireRules("create cluster", { latency, watchList, ...others }, RULES);
    const writes = new Writes(this.#store);
    const controllers = new Controllers(this.#store, writes);
    this.#server = new ApiServer(this.#store, writes, watchList);
    this.#network = new Network(this.#server, latency === undefined ? 0 : tryParseDuration(latency)!);
    this.transport = this.#network;
    this.client = new FreezingClient({ transport: this.#network });
    for (const name of NAMESPACES) this.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    for (const one of resources) this.create("metadata" in one ? one as Identified : definitionOf(one as CustomKind));
    controllers.run();
  }

  /** Requests of clients that arrived, the oldest first. */
  get requests(): readonly ClusterRequest[] {
    return this.#network.requests;
  }

  /** Returns the number of requests that match, such as `{ verb: "patch", resource: "pods" }`. */
  count(match: RequestMatch = {}): number {
    return this.requests.filter((request) => isMatch(request, match)).length;
  }

  /** Creates an object. */
  create<T extends KubeObject = Stored>(object: Identified): T {
    return this.#ask("POST", this.#pathOf(object, false), object);
  }

  /** Returns an object by its key (`namespace/name`, or `name` without a namespace), or `undefined`. */
  get<T extends KubeObject = Stored>(apiVersion: string, kind: string, key: string): T | undefined {
    const [name, namespace] = key.split("/").reverse();
    const resource = this.#resourceOf(apiVersion, kind);
    const found = this.#store.get(placeOf({ resource, namespace, name: name! }));
    return found && freeze(inVersion(found, resource)) as KubeObject as T;
  }

  /** Returns the objects of a kind, by namespace and name. */
  list<T extends KubeObject = Stored>(
    apiVersion: string,
    kind: string,
    { namespace, ...selectors }: ListOptions = {},
  ): T[] {
    const resource = this.#resourceOf(apiVersion, kind);
    const path = pathOf({ root: rootOf(resource), ...resource }, namespace);
    const { items } = this.#ask<ObjectList>("GET", `${path}?${new URLSearchParams(selectors)}`);
    return items.map((item) => freeze({ apiVersion, kind, ...item as T }));
  }

  /** Changes fields of an object by a merge patch, whatever its version: `null` removes a field. */
  patch<T extends KubeObject = Stored>(
    object: Identified,
    changes: object,
    { subresource }: { readonly subresource?: "status" | "scale" } = {},
  ): T {
    const path = this.#pathOf(object) + (subresource ? `/${subresource}` : "");
    return this.#ask("PATCH", path, changes, "application/merge-patch+json");
  }

  /** Applies an object: sets its fields, and removes the fields that the same manager applied before. */
  apply<T extends KubeObject = Stored>(
    object: Identified,
    { manager = "test", force = true }: { readonly manager?: string; readonly force?: boolean } = {},
  ): T {
    const query = new URLSearchParams({ fieldManager: manager, force: `${force}` });
    return this.#ask("PATCH", `${this.#pathOf(object)}?${query}`, object, "application/apply-patch+yaml");
  }

  /** Deletes an object. If it has finalizers, it stays until they are removed. */
  delete(object: Identified, options: DeleteOptions = {}): void {
    this.#ask("DELETE", this.#pathOf(object), options);
  }

  /** Ends all watches with the error 410 (`Expired`), and forgets the history, so that clients must list again. */
  expireWatches(): void {
    this.compact();
    this.#network.endWatches({ last: { type: "ERROR", object: tooOld(1, this.#store.compacted) } });
  }

  /** Ends all watches, as a server does from time to time. */
  closeWatches(): void {
    this.#network.endWatches();
  }

  /** Breaks all connections. New ones work. */
  dropConnections(): void {
    this.#network.endWatches({ error: connectionError("read ECONNRESET", "ECONNRESET") });
  }

  /** Stops the API server: connections break, and new ones are refused until `start`. */
  stop(): void {
    this.#network.isDown = true;
    this.dropConnections();
  }

  /** Ends the effect of `stop` and `hang` on new connections. */
  start(): void {
    this.#network.isDown = this.#network.isHung = false;
  }

  /** Cuts the network: nothing arrives on open connections any more, and on new ones until `start`. */
  hang(): void {
    this.#network.isHung = true;
    this.#network.silenceWatches();
  }

  /** Makes the next request that matches fail: with the code of a status, or without an answer. */
  failNext(match: RequestMatch, failure: FailureKind, options: FailureOptions = {}): void {
    this.#network.fail(match, failure, options);
  }

  /** Denies requests for a resource with the error 403. Returns the function that allows them again. */
  denyAccess(verb: Verb, resource: string): () => void {
    return this.#network.fail({ verb, resource }, 403, { times: Infinity });
  }

  /** Forgets the history: watches and pages can't continue from earlier versions. Open watches continue. */
  compact(): void {
    this.#store.compact();
  }

  /** Returns the state of the cluster, for `restore`. */
  snapshot(): Snapshot {
    return this.#store.snapshot();
  }

  /** Goes back to a state, as when a backup of etcd is restored: resource versions go back too. Connections break. */
  restore(snapshot: Snapshot): void {
    this.dropConnections();
    this.#store.restore(snapshot);
  }

  #resourceOf(apiVersion: string, kind: string): Resource {
    const found = resourceOfKind(this.#store, apiVersion, kind);
    if (found) return found;
    const message = `no matches for kind "${kind}" in version "${apiVersion}"`;
    throw new ApiError("find resource", { code: 404, reason: "NotFound", message });
  }

  #pathOf({ apiVersion, kind, metadata: { namespace = "default", name } }: Identified, isNamed = true): string {
    const resource = this.#resourceOf(apiVersion, kind);
    const place = resource.isClustered ? undefined : namespace;
    return pathOf({ root: rootOf(resource), ...resource }, place, isNamed ? name : undefined);
  }

  /** Sends a request past the network. */
  #ask<R>(method: string, path: string, body?: object, type = "application/json"): R {
    const headers = { "content-type": type, "user-agent": "test" };
    const answer = this.#server.answer(parseRequest(method, path), body && JSON.stringify(body), headers);
    if (answer.code >= 300) throw new ApiError(`${method} ${path}`, answer.body as ApiStatus);
    return answer.body as R;
  }
}

/** Returns a new cluster in this process. See {@linkcode FakeCluster}. */
export function fakeCluster(options?: FakeClusterOptions): FakeCluster {
  return new FakeCluster(options);
}
