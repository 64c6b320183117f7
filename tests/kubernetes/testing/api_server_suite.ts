/**
 * Suite for API servers: it runs against `fakeCluster`, and against a real server, so that both behave in the same way.
 * Each test has a namespace of its own.
 */

import { assert, assertEquals, assertExists, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../packages/kubernetes/client/api_error.ts";
import type { Client, Query } from "../../../packages/kubernetes/client/client.ts";
import type { KubeObject, ObjectMeta } from "@workqueue/kubernetes";

/** Object with any fields. */
export interface AnyObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

interface List {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly AnyObject[];
}

interface Event {
  readonly type: string;
  readonly object: AnyObject;
}

/** Connection to a server. */
export interface Connected {
  readonly client: Client;
  /** Closes the connection. */
  close?(): void | Promise<void>;
}

/** Body of a request. */
type Body = Readonly<Record<string, unknown>>;

/** Namespace of one test. */
class Place {
  readonly client: Client;
  readonly namespace: string;
  readonly #watches = new AbortController();

  constructor(client: Client, namespace: string) {
    this.client = client;
    this.namespace = namespace;
  }

  /** Returns the path of a resource in the namespace, such as `apps/v1/deployments`. */
  path(resource: string): string {
    const plural = resource.slice(resource.lastIndexOf("/") + 1);
    const apiVersion = resource.slice(0, resource.lastIndexOf("/"));
    return `/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}/namespaces/${this.namespace}/${plural}`;
  }

  get(resource: string, name: string): Promise<AnyObject> {
    return this.client.request("GET", `${this.path(resource)}/${name}`);
  }

  list(resource: string, query: Query = {}): Promise<List> {
    return this.client.request("GET", this.path(resource), { query });
  }

  create(resource: string, body: Body): Promise<AnyObject> {
    return this.client.request("POST", this.path(resource), { body });
  }

  put(resource: string, name: string, body: unknown): Promise<AnyObject> {
    return this.client.request("PUT", `${this.path(resource)}/${name}`, { body });
  }

  patch(resource: string, name: string, body: unknown, type = "merge-patch+json"): Promise<AnyObject> {
    return this.client.request("PATCH", `${this.path(resource)}/${name}`, { body, contentType: `application/${type}` });
  }

  delete(resource: string, name: string, body?: unknown): Promise<AnyObject> {
    return this.client.request("DELETE", `${this.path(resource)}/${name}`, body === undefined ? {} : { body });
  }

  /** Returns a function that returns the next event of a watch, and `undefined` at its end. */
  async watch(resource: string, query: Query = {}): Promise<() => Promise<Event | undefined>> {
    const opened = Promise.withResolvers<void>();
    const events = this.client.watch<Event>(this.path(resource), {
      query: { watch: true, ...query },
      signal: this.#watches.signal,
      onOpen: opened.resolve,
    });
    let first: Promise<IteratorResult<Event, void>> | undefined = events.next();
    await Promise.race([opened.promise, first]);
    return async () => {
      const result = await (first ?? events.next());
      first = undefined;
      return result.done ? undefined : result.value;
    };
  }

  /** Ends the watches. */
  close(): void {
    this.#watches.abort();
  }
}

function configMap(name: string, more: { metadata?: ObjectMeta; data?: Record<string, string> } = {}): Body {
  return { apiVersion: "v1", kind: "ConfigMap", ...more, metadata: { name, ...more.metadata } };
}

const MAPS = "v1/configmaps";
const ABSENT_UID = "00000000-0000-4000-8000-000000000000";

/** Checks that a request fails with a code and a reason, and returns the error. */
async function assertFails(request: Promise<unknown>, status: number, reason: string): Promise<ApiError> {
  const error = await assertRejects(() => request, ApiError);
  assertEquals([error.status, error.reason], [status, reason], error.message);
  return error;
}

/** Returns the parts of events that tests compare. */
function seen(event: Event | undefined): [type: string, name: string | undefined] | undefined {
  return event && [event.type, event.object.metadata.name];
}

/** Registers the suite for a server. `connect` is called once. */
export function apiServerSuite(name: string, connect: () => Connected | Promise<Connected>): void {
  let connected: Promise<Connected> | undefined;
  const test = (what: string, run: (place: Place) => Promise<void>) =>
    Deno.test(`API server, ${name}: ${what}`, async () => {
      const { client } = await (connected ??= Promise.resolve(connect()));
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { generateName: "suite-" } };
      const { metadata } = await client.request<KubeObject>("POST", "/api/v1/namespaces", { body });
      const place = new Place(client, metadata.name!);
      try {
        await run(place);
      } finally {
        place.close();
        await client.request("DELETE", `/api/v1/namespaces/${metadata.name}`);
      }
    });

  test("create returns the object with what the server adds", async (place) => {
    const { metadata, data } = await place.create(MAPS, configMap("a", { data: { color: "red" } }));
    assertEquals([metadata.name, metadata.namespace, data], ["a", place.namespace, { color: "red" }]);
    assertMatch(metadata.uid!, /^[0-9a-f-]{36}$/);
    assertMatch(metadata.resourceVersion!, /^[1-9]\d*$/);
    assertMatch(metadata.creationTimestamp!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assertEquals((await place.get(MAPS, "a")).metadata, metadata);
  });

  test("create ignores the uid, times and versions in the body", async (place) => {
    const given = {
      uid: ABSENT_UID,
      creationTimestamp: "2001-01-01T00:00:00Z",
      deletionTimestamp: "2001-01-01T00:00:00Z",
      generation: 7,
    };
    const { metadata } = await place.create(MAPS, configMap("a", { metadata: given }));
    assertNotEquals(metadata.uid, given.uid);
    assertNotEquals(metadata.creationTimestamp, given.creationTimestamp);
    assertEquals([metadata.deletionTimestamp, metadata.generation], [undefined, undefined]);
  });

  test("create refuses what exists, a name that is not allowed, and a namespace that does not exist", async (place) => {
    await place.create(MAPS, configMap("a"));
    const error = await assertFails(place.create(MAPS, configMap("a")), 409, "AlreadyExists");
    assertMatch(error.message, /configmaps "a" already exists$/);
    const invalid = await assertFails(place.create(MAPS, configMap("A_b")), 422, "Invalid");
    assertEquals(invalid.details?.causes?.map(({ field, reason }) => [field, reason]), [[
      "metadata.name",
      "FieldValueInvalid",
    ]]);
    await assertFails(place.create(MAPS, configMap("")), 422, "Invalid");
    await assertFails(place.create(MAPS, configMap("b", { metadata: { namespace: "other" } })), 400, "BadRequest");
    const absent = new Place(place.client, "absent");
    const missing = await assertFails(absent.create(MAPS, configMap("a")), 404, "NotFound");
    assertMatch(missing.message, /namespaces "absent" not found$/);
  });

  test("create makes a name from generateName", async (place) => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "some-" } };
    const [one, other] = [await place.create(MAPS, body), await place.create(MAPS, body)];
    assertMatch(one.metadata.name!, /^some-[a-z0-9]{5}$/);
    assertNotEquals(one.metadata.name, other.metadata.name);
  });

  test("get and delete of an absent object fail, and so does an absent resource", async (place) => {
    const error = await assertFails(place.get("apps/v1/deployments", "a"), 404, "NotFound");
    assertMatch(error.message, /deployments\.apps "a" not found$/);
    await assertFails(place.delete(MAPS, "a"), 404, "NotFound");
    await assertFails(place.put(MAPS, "a", configMap("a")), 404, "NotFound");
    await assertFails(place.patch(MAPS, "a", {}), 404, "NotFound");
    assertEquals((await assertRejects(() => place.list("v1/unicorns"), ApiError)).status, 404);
    assertEquals((await assertRejects(() => place.list("example.org/v1/unicorns"), ApiError)).status, 404);
  });

  test("put replaces an object, unless it changed since", async (place) => {
    const first = await place.create(
      MAPS,
      configMap("a", { metadata: { labels: { x: "1" } }, data: { color: "red" } }),
    );
    const second = await place.put(MAPS, "a", {
      ...first,
      metadata: { ...first.metadata, labels: {} },
      data: { size: "2" },
    });
    assertEquals([second.data, second.metadata.labels], [{ size: "2" }, undefined]);
    assert(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion));
    const error = await assertFails(place.put(MAPS, "a", { ...first, data: { color: "blue" } }), 409, "Conflict");
    assertMatch(error.message, /the object has been modified/);
    assertEquals((await place.get(MAPS, "a")).data, { size: "2" });
    await assertFails(
      place.put(MAPS, "a", { ...second, metadata: { ...second.metadata, name: "b" } }),
      400,
      "BadRequest",
    );
    const other = { ...second.metadata, uid: ABSENT_UID };
    await assertFails(place.put(MAPS, "a", { ...second, metadata: other }), 409, "Conflict");
  });

  test("a write without a change keeps the version", async (place) => {
    const { metadata } = await place.create(MAPS, configMap("a", { data: { color: "red" } }));
    const put = await place.put(MAPS, "a", configMap("a", { data: { color: "red" } }));
    const patched = await place.patch(MAPS, "a", { data: { color: "red" } });
    assertEquals([put.metadata.resourceVersion, patched.metadata.resourceVersion], [
      metadata.resourceVersion,
      metadata.resourceVersion,
    ]);
  });

  test("a merge patch changes fields, removes null, and may name a version", async (place) => {
    const first = await place.create(MAPS, configMap("a", { data: { color: "red", size: "1" } }));
    const second = await place.patch(MAPS, "a", { data: { size: null, shape: "round" } });
    assertEquals(second.data, { color: "red", shape: "round" });
    const { resourceVersion } = first.metadata;
    await assertFails(
      place.patch(MAPS, "a", { metadata: { resourceVersion }, data: { color: "blue" } }),
      409,
      "Conflict",
    );
    await place.patch(MAPS, "a", {
      metadata: { resourceVersion: second.metadata.resourceVersion },
      data: { color: "blue" },
    });
    assertEquals((await place.get(MAPS, "a")).data, { color: "blue", shape: "round" });
    await assertFails(place.patch(MAPS, "a", { metadata: { uid: ABSENT_UID } }), 422, "Invalid");
    await assertFails(place.patch(MAPS, "a", { metadata: { labels: { x: "not allowed!" } } }), 422, "Invalid");
    assertEquals((await assertRejects(() => place.patch(MAPS, "a", {}, "unknown+json"), ApiError)).status, 415);
  });

  test("a JSON patch adds, replaces, removes and tests", async (place) => {
    await place.create(
      MAPS,
      configMap("a", { metadata: { finalizers: ["example.com/a", "example.com/b"] }, data: { color: "red" } }),
    );
    const { data, metadata } = await place.patch(MAPS, "a", [
      { op: "test", path: "/data/color", value: "red" },
      { op: "replace", path: "/data/color", value: "blue" },
      { op: "add", path: "/data/size", value: "1" },
      { op: "remove", path: "/metadata/finalizers/0" },
    ], "json-patch+json");
    assertEquals([data, metadata.finalizers], [{ color: "blue", size: "1" }, ["example.com/b"]]);
    const failing = [{ op: "test", path: "/data/color", value: "red" }, { op: "remove", path: "/data/size" }];
    await assertFails(place.patch(MAPS, "a", failing, "json-patch+json"), 422, "Invalid");
    await place.patch(MAPS, "a", { metadata: { finalizers: null } });
  });

  test("delete answers with the uid, and checks preconditions", async (place) => {
    const { metadata: { uid, resourceVersion } } = await place.create(MAPS, configMap("a"));
    await assertFails(place.delete(MAPS, "a", { preconditions: { uid: ABSENT_UID } }), 409, "Conflict");
    await assertFails(place.delete(MAPS, "a", { preconditions: { resourceVersion: "1" } }), 409, "Conflict");
    const answer = await place.delete(MAPS, "a", { preconditions: { uid, resourceVersion } });
    assertEquals(answer as unknown, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", kind: "configmaps", uid },
    });
    await assertFails(place.get(MAPS, "a"), 404, "NotFound");
  });

  test("an object with finalizers stays until the last one is removed", async (place) => {
    await place.create(MAPS, configMap("a", { metadata: { finalizers: ["example.com/a", "example.com/b"] } }));
    const marked = await place.delete(MAPS, "a");
    assertExists(marked.metadata.deletionTimestamp);
    assertEquals((await place.delete(MAPS, "a")).metadata.resourceVersion, marked.metadata.resourceVersion);
    await assertFails(place.patch(MAPS, "a", { metadata: { finalizers: ["example.com/c"] } }), 422, "Invalid");
    const one = await place.patch(MAPS, "a", { metadata: { finalizers: ["example.com/b"], deletionTimestamp: null } });
    assertExists(one.metadata.deletionTimestamp);
    const next = await place.watch(MAPS, { resourceVersion: one.metadata.resourceVersion! });
    await place.put(MAPS, "a", { ...one, metadata: { ...one.metadata, finalizers: [] } });
    await assertFails(place.get(MAPS, "a"), 404, "NotFound");
    assertEquals(seen(await next()), ["DELETED", "a"]);
  });
}
