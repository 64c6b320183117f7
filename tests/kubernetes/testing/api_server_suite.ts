/**
 * Suite for API servers: it runs against `fakeCluster`, and against a real server, so that both behave in the same way.
 * Each test has a namespace of its own.
 */

import { assert, assertEquals, assertExists, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../packages/kubernetes/client/errors.ts";
import type { Client, Query } from "../../../packages/kubernetes/client/client.ts";
import type { KubeObject, ObjectMeta } from "@workqueue/kubernetes";

/** Object with any fields. */
export interface AnyObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: unknown;
}

/** List of objects. */
export interface List {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly AnyObject[];
}

/** Event of a watch. */
export interface Event {
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

  apply(resource: string, body: Body, query: Query = { fieldManager: "one" }, subresource = ""): Promise<AnyObject> {
    const { name } = body["metadata"] as ObjectMeta;
    const options = { query, body, contentType: "application/apply-patch+yaml" };
    return this.client.request("PATCH", `${this.path(resource)}/${name}${subresource}`, options);
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

const GROUP = "suite.workqueue.dev";
const MAPS = "v1/configmaps";
const WIDGETS = `${GROUP}/v1/widgets`;
const NOTES = `${GROUP}/v1/notes`;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ABSENT_UID = "00000000-0000-4000-8000-000000000000";

function widget(name: string, spec: object = {}, more: { metadata?: ObjectMeta; status?: object } = {}): Body {
  return { apiVersion: `${GROUP}/v1`, kind: "Widget", spec, ...more, metadata: { name, ...more.metadata } };
}

function note(name: string, more: object = {}): Body {
  return { apiVersion: `${GROUP}/v1`, kind: "Note", metadata: { name }, ...more };
}

/** Schema of any value. */
const ANY = { "x-kubernetes-preserve-unknown-fields": true };

/** Returns a definition whose objects have any spec and status. */
function definition(kind: string, version: object, properties: object = {}): Body {
  const plural = `${kind.toLowerCase()}s`;
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", ...ANY, properties }, status: { type: "object", ...ANY } },
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema, ...version }],
    },
  };
}

/** Schema of a set of texts. */
const SET = { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } };

const WIDGET = definition("Widget", {
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  selectableFields: [{ jsonPath: ".spec.color" }],
}, {
  color: { type: "string" },
  replicas: { type: "integer" },
  ports: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, port: { type: "integer" }, hosts: SET },
    },
  },
  tags: SET,
  words: { type: "array", items: { type: "string" } },
});

/** Definition whose objects can be read and written in two versions. */
const TWO_VERSIONS = (() => {
  const { spec, ...rest } = definition("Page", {}) as { spec: { versions: readonly object[] } };
  const versions = [...spec.versions, { ...spec.versions[0], name: "v2", storage: false }];
  return { ...rest, spec: { ...spec, versions } };
})();

/** Creates a definition unless it exists, and waits until its objects can be listed. */
async function define(client: Client, body: Body): Promise<void> {
  const { names: { plural } } = body["spec"] as { names: { plural: string } };
  await client.request("POST", DEFINITIONS, { body }).catch((error) => assertEquals(error.reason, "AlreadyExists"));
  const isServed = () =>
    client.request("GET", `/apis/${GROUP}/v1/${plural}`).then(() => true, (error) => {
      assertEquals(error.status, 404);
      return false;
    });
  while (!await isServed());
}

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
  const prepare = async () => {
    const connected = await connect();
    await define(connected.client, WIDGET);
    await define(connected.client, definition("Note", {}));
    await define(connected.client, TWO_VERSIONS);
    return connected;
  };
  const test = (what: string, run: (place: Place) => Promise<void>) =>
    Deno.test(`API server, ${name}: ${what}`, async () => {
      const { client } = await (connected ??= prepare());
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

  test("create returns the object with the fields that the server adds", async (place) => {
    const { metadata, data } = await place.create(MAPS, configMap("a", { data: { color: "red" } }));
    assertEquals([metadata.name, metadata.namespace, data], ["a", place.namespace, { color: "red" }]);
    assertMatch(metadata.uid!, /^[0-9a-f-]{36}$/);
    assertMatch(metadata.resourceVersion!, /^[1-9]\d*$/);
    assertMatch(metadata.creationTimestamp!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assertEquals((await place.get(MAPS, "a")).metadata, metadata);
  });

  test("create ignores the uid, times and versions in the body", async (place) => {
    const time = "2001-01-01T00:00:00Z";
    const given = { uid: ABSENT_UID, creationTimestamp: time, deletionTimestamp: time };
    const { metadata } = await place.create(MAPS, configMap("a", { metadata: given }));
    assertNotEquals(metadata.uid, given.uid);
    assertNotEquals(metadata.creationTimestamp, given.creationTimestamp);
    assertEquals(metadata.deletionTimestamp, undefined);
  });

  test("create refuses an existing object, an invalid name, and a namespace that does not exist", async (place) => {
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

  test("list returns the objects sorted by name, and omits the kind of built-in objects", async (place) => {
    for (const name of ["b", "a"]) await place.create(MAPS, configMap(name, { data: { name } }));
    const { kind, apiVersion, metadata, items } = await place.list(MAPS);
    assertEquals([kind, apiVersion], ["ConfigMapList", "v1"]);
    assertEquals(items.map((item) => [item.metadata.name, item.data, item.kind]), [
      ["a", { name: "a" }, undefined],
      ["b", { name: "b" }, undefined],
    ]);
    assert(Number(metadata.resourceVersion) >= Number(items[0]!.metadata.resourceVersion));
    await place.create(WIDGETS, widget("w"));
    assertEquals((await place.list(WIDGETS)).items.map((item) => [item.kind, item.apiVersion]), [[
      "Widget",
      `${GROUP}/v1`,
    ]]);
  });

  test("label selectors select", async (place) => {
    const labels: Record<string, Record<string, string>> = {
      a: { x: "1" },
      b: { x: "2", y: "1" },
      c: { y: "2" },
      d: {},
    };
    for (const [name, own] of Object.entries(labels)) {
      await place.create(MAPS, configMap(name, { metadata: { labels: own } }));
    }
    const cases = {
      "x=1": "a",
      "x==1": "a",
      "x!=1": "bcd",
      "x": "ab",
      "!x": "cd",
      "x in (1, 2)": "ab",
      "x notin (1,3)": "bcd",
      "x in (2),y": "b",
      "y,y!=1": "c",
      "x=": "",
    };
    const found: Record<string, string> = {};
    for (const labelSelector of Object.keys(cases)) {
      found[labelSelector] = (await place.list(MAPS, { labelSelector })).items.map(({ metadata }) => metadata.name)
        .join("");
    }
    assertEquals(found, cases);
    for (const labelSelector of ["x=1=2", "x in 1", "x in (1", "=1", "!x=1"]) {
      await assertFails(place.list(MAPS, { labelSelector }), 400, "BadRequest");
    }
  });

  test("field selectors select by name, and by fields that a definition names", async (place) => {
    for (const name of ["a", "b", "c"]) await place.create(WIDGETS, widget(name, name === "c" ? {} : { color: name }));
    const namesOf = async (fieldSelector: string) =>
      (await place.list(WIDGETS, { fieldSelector })).items.map(({ metadata }) => metadata.name).join("");
    assertEquals(await namesOf("metadata.name=b"), "b");
    assertEquals(await namesOf("metadata.name!=b"), "ac");
    assertEquals(await namesOf(`metadata.namespace=${place.namespace}`), "abc");
    assertEquals(await namesOf("spec.color=a"), "a");
    assertEquals(await namesOf("spec.color=,metadata.name!=x"), "c");
    await assertFails(place.list(WIDGETS, { fieldSelector: "spec.size=1" }), 400, "BadRequest");
    await assertFails(place.list(MAPS, { fieldSelector: "data.a=1" }), 400, "BadRequest");
  });

  test("pages of a list show one version", async (place) => {
    for (const name of ["a", "b", "c", "d", "e"]) await place.create(MAPS, configMap(name));
    const first = await place.list(MAPS, { limit: 2 });
    assertEquals([first.items.map(({ metadata }) => metadata.name), first.metadata.remainingItemCount], [
      ["a", "b"],
      3,
    ]);
    await place.delete(MAPS, "c");
    await place.create(MAPS, configMap("f"));
    const second = await place.list(MAPS, { limit: 2, continue: first.metadata.continue! });
    const third = await place.list(MAPS, { limit: 2, continue: second.metadata.continue! });
    const rest = [...second.items, ...third.items].map(({ metadata }) => metadata.name);
    assertEquals([rest, third.metadata.continue ?? ""], [["c", "d", "e"], ""]);
    const { resourceVersion } = first.metadata;
    assertEquals([second.metadata.resourceVersion, third.metadata.resourceVersion], [resourceVersion, resourceVersion]);
    assertEquals((await place.list(MAPS, { limit: 2, labelSelector: "!x" })).metadata.remainingItemCount, undefined);
    await assertFails(place.list(MAPS, { limit: 2, continue: "nothing" }), 400, "BadRequest");
  });

  test("a list is not older than the version that the request asks for", async (place) => {
    const { metadata: { resourceVersion } } = await place.create(MAPS, configMap("a"));
    await place.create(MAPS, configMap("b"));
    const sizeOf = async (query: Query) => (await place.list(MAPS, query)).items.length;
    assertEquals(await sizeOf({ resourceVersion, resourceVersionMatch: "NotOlderThan" }), 2);
    assertEquals(await sizeOf({ resourceVersion }), 2);
    const future = `${Number(resourceVersion) + 1_000_000}`;
    const error = await assertFails(place.list(MAPS, { resourceVersion: future }), 504, "Timeout");
    assertEquals(error.details?.causes?.map(({ reason }) => reason), ["ResourceVersionTooLarge"]);
    assertEquals(error.retryAfter, 1000);
  });

  test("a watch from a version sends every later change", async (place) => {
    const { metadata } = await place.create(MAPS, configMap("a"));
    const next = await place.watch(MAPS, { resourceVersion: metadata.resourceVersion! });
    await place.create(MAPS, configMap("b", { data: { x: "1" } }));
    const changed = await place.patch(MAPS, "a", { data: { x: "1" } });
    await place.delete(MAPS, "b");
    const events = [(await next())!, (await next())!, (await next())!];
    assertEquals(events.map(seen), [["ADDED", "b"], ["MODIFIED", "a"], ["DELETED", "b"]]);
    assertEquals(events[1]!.object, changed);
    assertEquals(events[2]!.object.data, { x: "1" });
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    assertEquals(
      versions,
      versions.toSorted((a, b) => a - b),
      "the object of a deletion has the version of the deletion",
    );
    assert(new Set(versions).size === 3);
    const again = await place.watch(MAPS, { resourceVersion: `${versions[1]}` });
    assertEquals(seen(await again()), ["DELETED", "b"]);
  });

  test("a watch without a version begins with the objects that exist", async (place) => {
    await place.create(MAPS, configMap("a"));
    for (const query of [{}, { resourceVersion: "0" }]) {
      const next = await place.watch(MAPS, query);
      assertEquals(seen(await next()), ["ADDED", "a"]);
      await place.patch(MAPS, "a", { data: { x: crypto.randomUUID() } });
      assertEquals(seen(await next()), ["MODIFIED", "a"]);
    }
  });

  test("for a watch with a selector, an object exists while the selector matches", async (place) => {
    const { metadata: { resourceVersion } } = await place.create(MAPS, configMap("a", { data: { x: "1" } }));
    const next = await place.watch(MAPS, { resourceVersion: resourceVersion!, labelSelector: "on=yes" });
    await place.patch(MAPS, "a", { metadata: { labels: { on: "yes" } } });
    await place.patch(MAPS, "a", { data: { x: "2" } });
    const off = await place.patch(MAPS, "a", { metadata: { labels: { on: "no" } }, data: { x: "3" } });
    await place.patch(MAPS, "a", { metadata: { labels: { on: "yes" } } });
    await place.delete(MAPS, "a");
    const events = [];
    for (let i = 0; i < 5; i++) events.push((await next())!);
    assertEquals(events.map(({ type }) => type), ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]);
    const { object } = events[2]!;
    assertEquals([object.data, object.metadata.resourceVersion], [{ x: "2" }, off.metadata.resourceVersion]);
  });

  test("a watch with initial events marks their end with a bookmark", async (place) => {
    for (const name of ["b", "a"]) await place.create(MAPS, configMap(name));
    const query = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };
    const next = await place.watch(MAPS, query);
    assertEquals([seen(await next()), seen(await next())].sort(), [["ADDED", "a"], ["ADDED", "b"]]);
    const { type, object } = (await next())!;
    const { resourceVersion, annotations } = object.metadata;
    assertEquals([type, object.kind, object.apiVersion, annotations], ["BOOKMARK", "ConfigMap", "v1", {
      "k8s.io/initial-events-end": "true",
    }]);
    await place.create(MAPS, configMap("c"));
    assertEquals(seen(await next()), ["ADDED", "c"]);
    const later = await place.watch(MAPS, { resourceVersion: resourceVersion! });
    assertEquals(seen(await later()), ["ADDED", "c"]);
    await assertFails(place.watch(MAPS, { sendInitialEvents: true }), 422, "Invalid");
  });

  test("the object and its status are written apart, and the generation counts changes of the spec", async (place) => {
    const created = await place.create(WIDGETS, widget("a", { color: "red" }, { status: { ready: true } }));
    assertEquals([created.status, created.metadata.generation], [undefined, 1]);
    const status = await place.patch(WIDGETS, "a/status", {
      spec: { color: "blue" },
      metadata: { labels: { x: "1" } },
      status: { ready: true },
    });
    assertEquals([status.spec, status.status, status.metadata.generation, status.metadata.labels], [
      { color: "red" },
      { ready: true },
      1,
      undefined,
    ]);
    const main = await place.patch(WIDGETS, "a", { spec: { color: "blue" }, status: { ready: false } });
    assertEquals([main.spec, main.status, main.metadata.generation], [{ color: "blue" }, { ready: true }, 2]);
    const labelled = await place.patch(WIDGETS, "a", { metadata: { labels: { x: "1" } } });
    assertEquals(labelled.metadata.generation, 2);
    const put = await place.put(WIDGETS, "a/status", { ...labelled, spec: {}, status: { ready: false } });
    assertEquals([put.spec, put.status, put.metadata.generation], [{ color: "blue" }, { ready: false }, 2]);
    await assertFails(place.put(WIDGETS, "a/status", { ...labelled, status: {} }), 409, "Conflict");
    assertEquals((await place.get(WIDGETS, "a/status")).status, { ready: false });
  });

  test("without a status subresource, the status is a field like any other", async (place) => {
    const { status, metadata } = await place.create(NOTES, note("a", { status: { x: 1 } }));
    assertEquals([status, metadata.generation], [{ x: 1 }, 1]);
    const patched = await place.patch(NOTES, "a", { status: { x: 2 } });
    assertEquals([patched.status, patched.metadata.generation], [{ x: 2 }, 2]);
    assertEquals((await assertRejects(() => place.get(NOTES, "a/status"), ApiError)).status, 404);
  });

  test("the scale subresource reads and writes the number of replicas", async (place) => {
    const { metadata } = await place.create(WIDGETS, widget("a", { replicas: 2 }));
    await place.patch(WIDGETS, "a/status", { status: { replicas: 1 } });
    const scale = await place.get(WIDGETS, "a/scale");
    assertEquals([scale.kind, scale.apiVersion, scale.spec, scale.status], [
      "Scale",
      "autoscaling/v1",
      { replicas: 2 },
      { replicas: 1 },
    ]);
    assertEquals(scale.metadata.uid, metadata.uid);
    assertEquals((await place.put(WIDGETS, "a/scale", { ...scale, spec: { replicas: 3 } })).spec, { replicas: 3 });
    await assertFails(place.put(WIDGETS, "a/scale", { ...scale, spec: { replicas: 4 } }), 409, "Conflict");
    await place.patch(WIDGETS, "a/scale", { spec: { replicas: 5 } });
    const { spec, metadata: { generation } } = await place.get(WIDGETS, "a");
    assertEquals([spec, generation], [{ replicas: 5 }, 3]);
  });

  test("a put of a custom object must name the version", async (place) => {
    const { metadata } = await place.create(WIDGETS, widget("a"));
    await assertFails(place.put(WIDGETS, "a", widget("a", { color: "red" })), 422, "Invalid");
    const { resourceVersion } = metadata;
    const { spec } = await place.put(WIDGETS, "a", widget("a", { color: "red" }, { metadata: { resourceVersion } }));
    assertEquals(spec, { color: "red" });
  });

  test("a body of another kind is refused", async (place) => {
    await assertFails(place.create(MAPS, { ...configMap("a"), kind: "Secret" }), 400, "BadRequest");
    await assertFails(place.create(WIDGETS, { ...widget("a"), apiVersion: `${GROUP}/v2` }), 400, "BadRequest");
    await assertFails(place.create(WIDGETS, { metadata: { name: "a" } }), 400, "BadRequest");
    assertEquals((await place.create(MAPS, { metadata: { name: "a" } })).kind, "ConfigMap");
  });

  test("an object has the version of the API in which it is read", async (place) => {
    const [v1, v2] = [`${GROUP}/v1`, `${GROUP}/v2`];
    const { metadata } = await place.create(`${v1}/pages`, { apiVersion: v1, kind: "Page", metadata: { name: "a" } });
    const next = await place.watch(`${v2}/pages`, { resourceVersion: metadata.resourceVersion! });
    assertEquals((await place.get(`${v2}/pages`, "a")).apiVersion, v2);
    const patched = await place.patch(`${v2}/pages`, "a", { spec: { x: 1 } });
    assertEquals([patched.apiVersion, patched.spec], [v2, { x: 1 }]);
    assertEquals((await next())?.object, patched);
    assertEquals((await place.list(`${v1}/pages`)).items.map(({ apiVersion, spec }) => [apiVersion, spec]), [[v1, {
      x: 1,
    }]]);
    const same = await place.patch(`${v1}/pages`, "a", { spec: { x: 1 } });
    assertEquals(same.metadata.resourceVersion, patched.metadata.resourceVersion);
  });

  test("the text of a secret is stored as its data", async (place) => {
    const body = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a" },
      data: { a: "eA==" },
      stringData: { b: "y" },
    };
    const created = await place.create("v1/secrets", body) as AnyObject & { type: string; stringData?: unknown };
    assertEquals([created.data, created.stringData, created.type], [{ a: "eA==", b: "eQ==" }, undefined, "Opaque"]);
  });

  test("owners must be complete, and at most one may be the controller", async (place) => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: ABSENT_UID };
    const { uid } = (await place.create(MAPS, configMap("o"))).metadata;
    const create = (ownerReferences: object[]) => place.create(MAPS, { metadata: { name: "a", ownerReferences } });
    await assertFails(create([{ ...owner, uid: "" }]), 422, "Invalid");
    const two = [{ ...owner, uid, controller: true }, { ...owner, uid: ABSENT_UID, controller: true }];
    await assertFails(create(two), 422, "Invalid");
    assertEquals((await create([{ ...owner, uid, controller: true }])).metadata.ownerReferences?.length, 1);
  });

  test("the policy of a deletion becomes a finalizer", async (place) => {
    const cases = { Foreground: "foregroundDeletion", Orphan: "orphan" };
    for (const [propagationPolicy, finalizer] of Object.entries(cases)) {
      const metadata = { finalizers: ["example.com/a"] };
      await place.create(MAPS, configMap("a", { metadata }));
      const marked = await place.delete(MAPS, "a", { propagationPolicy });
      assertEquals(marked.metadata.finalizers?.toSorted(), ["example.com/a", finalizer].toSorted());
      assertExists(marked.metadata.deletionTimestamp);
      await place.patch(MAPS, "a", { metadata: { finalizers: null } });
      await assertFails(place.get(MAPS, "a"), 404, "NotFound");
    }
  });

  test("a deletion raises the generation of an object that stays", async (place) => {
    await place.create(WIDGETS, widget("a", {}, { metadata: { finalizers: ["example.com/a"] } }));
    assertEquals((await place.delete(WIDGETS, "a")).metadata.generation, 2);
    await place.patch(WIDGETS, "a", { metadata: { finalizers: null } });
  });

  test("a namespace that is being deleted takes no new objects", async (place) => {
    const body = { metadata: { generateName: "suite-" } };
    const { metadata: { name } } = await place.client.request<AnyObject>("POST", "/api/v1/namespaces", { body });
    const other = new Place(place.client, name!);
    await other.create(MAPS, configMap("a", { metadata: { finalizers: ["example.com/a"] } }));
    const namespace = await place.client.request<AnyObject>("DELETE", `/api/v1/namespaces/${name}`);
    assertEquals([namespace.kind, namespace.status?.["phase"]], ["Namespace", "Terminating"]);
    const error = await assertFails(other.create(MAPS, configMap("b")), 403, "Forbidden");
    assertEquals(error.details?.causes?.map(({ reason }) => reason), ["NamespaceTerminating"]);
    await other.patch(MAPS, "a", { metadata: { finalizers: null, labels: { x: "1" } } });
  });

  test("discovery names resources and their subresources", async (place) => {
    interface Resources {
      readonly groupVersion: string;
      readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
    }
    const found = async (path: string, ...names: string[]) => {
      const { groupVersion, resources } = await place.client.request<Resources>("GET", path);
      const meant = resources.filter(({ name }) => names.includes(name));
      return [groupVersion, ...meant.map(({ name, kind, namespaced }) => `${name} ${kind} ${namespaced}`).sort()];
    };
    assertEquals(await found("/api/v1", "configmaps", "nodes", "pods/status"), [
      ...["v1", "configmaps ConfigMap true", "nodes Node false", "pods/status Pod true"],
    ]);
    assertEquals(await found("/apis/apps/v1", "deployments", "deployments/scale"), [
      ...["apps/v1", "deployments Deployment true", "deployments/scale Scale true"],
    ]);
    assertEquals(await found(`/apis/${GROUP}/v1`, "widgets", "widgets/status", "widgets/scale"), [
      ...[`${GROUP}/v1`, "widgets Widget true", "widgets/scale Scale true", "widgets/status Widget true"],
    ]);
    assertEquals((await assertRejects(() => place.client.request("GET", "/apis/absent.dev/v1"), ApiError)).status, 404);
  });

  test("the objects of a definition vanish with it", async (place) => {
    const name = `gadgets.${GROUP}`;
    await define(place.client, definition("Gadget", {}));
    const gadgets = `${GROUP}/v1/gadgets`;
    await place.create(gadgets, { apiVersion: `${GROUP}/v1`, kind: "Gadget", metadata: { name: "a" } });
    const { metadata } = await place.list(gadgets);
    const next = await place.watch(gadgets, { resourceVersion: metadata.resourceVersion });
    await place.client.request("DELETE", `${DEFINITIONS}/${name}`);
    assertEquals(seen(await next()), ["DELETED", "a"]);
    assertEquals(await next(), undefined, "the watch ends");
    const isLeft = () => place.client.request("GET", `${DEFINITIONS}/${name}`).then(() => true, () => false);
    while (await isLeft());
    assertEquals((await assertRejects(() => place.list(gadgets), ApiError)).status, 404);
  });

  test("apply creates an object, sets its fields, and removes fields that it no longer names", async (place) => {
    const created = await place.apply(
      MAPS,
      configMap("a", { metadata: { labels: { x: "1" } }, data: { a: "1", b: "2" } }),
    );
    assertEquals(created.data, { a: "1", b: "2" });
    assertEquals(
      (created.metadata.managedFields as ManagedFields[]).map((
        { manager, operation, fieldsV1 },
      ) => [manager, operation, fieldsV1]),
      [
        ["one", "Apply", { "f:data": { "f:a": {}, "f:b": {} }, "f:metadata": { "f:labels": { "f:x": {} } } }],
      ],
    );
    const same = await place.apply(
      MAPS,
      configMap("a", { metadata: { labels: { x: "1" } }, data: { a: "1", b: "2" } }),
    );
    assertEquals(same, created);
    await place.patch(MAPS, "a", { data: { c: "3" } });
    const changed = await place.apply(MAPS, configMap("a", { data: { b: "4" } }));
    assertEquals([changed.data, changed.metadata.labels], [{ b: "4", c: "3" }, undefined]);
    await place.apply(NOTES, note("a", { spec: { x: { y: 1 } } }));
    assertEquals((await place.apply(NOTES, note("a"))).spec, undefined, "maps that become empty go");
  });

  test("apply doesn't take fields of other managers, unless it is forced to", async (place) => {
    await place.apply(MAPS, configMap("a", { data: { a: "1", b: "2" } }));
    const two = { fieldManager: "two" };
    const error = await assertFails(
      place.apply(MAPS, configMap("a", { data: { a: "2", c: "3" } }), two),
      409,
      "Conflict",
    );
    assertEquals(error.details?.causes, [
      { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" },
    ]);
    assertEquals((await place.get(MAPS, "a")).data, { a: "1", b: "2" });
    await place.apply(MAPS, configMap("a", { data: { a: "2" } }), { ...two, force: true });
    await assertFails(place.apply(MAPS, configMap("a", { data: { a: "1" } })), 409, "Conflict");
    const { data } = await place.apply(MAPS, configMap("a", { data: {} }));
    assertEquals(data, { a: "2" }, "the field belongs to the other manager now");
  });

  test("a field that two managers apply with the same value stays until both drop it", async (place) => {
    const two = { fieldManager: "two" };
    await place.apply(MAPS, configMap("a", { data: { a: "1", b: "1" } }));
    await place.apply(MAPS, configMap("a", { data: { a: "1" } }), two);
    assertEquals((await place.apply(MAPS, configMap("a"))).data, { a: "1" });
    assertEquals((await place.apply(MAPS, configMap("a"), two)).data, undefined);
  });

  test("other writes take the fields that they change", async (place) => {
    await place.apply(MAPS, configMap("a", { data: { a: "1", b: "1" } }));
    const patched = await place.patch(MAPS, "a?fieldManager=two", { data: { a: "2" } });
    const managers = (patched.metadata.managedFields as ManagedFields[])
      .map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1]);
    assertEquals(managers, [["one", "Apply", { "f:data": { "f:b": {} } }], ["two", "Update", {
      "f:data": { "f:a": {} },
    }]]);
    const error = await assertFails(place.apply(MAPS, configMap("a", { data: { a: "1", b: "1" } })), 409, "Conflict");
    assertEquals(error.details?.causes?.map(({ message, field }) => [message, field]), [
      ['conflict with "two" using v1', ".data.a"],
    ]);
    const put = await place.put(MAPS, "a?fieldManager=three", configMap("a", { data: { a: "2" } }));
    assertEquals((put.metadata.managedFields as ManagedFields[]).map(({ manager }) => manager), ["two"]);
    assertEquals((await place.apply(MAPS, configMap("a", { data: { a: "2", c: "1" } }))).data, { a: "2", c: "1" });
  });

  test("apply merges owners by uid and finalizers one by one", async (place) => {
    const owner = (uid: string, controller: boolean) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "o",
      uid,
      controller,
    });
    const { uid } = (await place.create(MAPS, configMap("o"))).metadata;
    const { uid: otherUid } = (await place.create(MAPS, configMap("p"))).metadata;
    const one = { finalizers: ["example.com/a"], ownerReferences: [owner(uid!, true)] };
    const two = { finalizers: ["example.com/b"], ownerReferences: [{ ...owner(otherUid!, false), name: "p" }] };
    await place.apply(MAPS, configMap("a", { metadata: one }));
    const both = await place.apply(MAPS, configMap("a", { metadata: two }), { fieldManager: "two" });
    assertEquals(both.metadata.finalizers, ["example.com/a", "example.com/b"]);
    assertEquals(both.metadata.ownerReferences?.map((one) => one.uid), [uid, otherUid]);
    const left = await place.apply(MAPS, configMap("a"));
    assertEquals([left.metadata.finalizers, left.metadata.ownerReferences?.length], [["example.com/b"], 1]);
    const second = { ownerReferences: [owner(ABSENT_UID, true), owner(uid!, true)] };
    await assertFails(place.apply(MAPS, configMap("a", { metadata: second })), 422, "Invalid");
    await place.patch(MAPS, "a", { metadata: { finalizers: null } });
  });

  test("apply of a status is apart from apply of the object", async (place) => {
    await place.apply(WIDGETS, widget("a", { color: "red" }, { status: { ready: true } }));
    const applied = await place.apply(
      WIDGETS,
      { ...widget("a", { color: "blue" }), status: { ready: true, step: 1 } },
      { fieldManager: "one" },
      "/status",
    );
    assertEquals([applied.spec, applied.status], [{ color: "red" }, { ready: true, step: 1 }]);
    assertEquals(
      (applied.metadata.managedFields as ManagedFields[]).map(({ subresource, fieldsV1 }) => [subresource, fieldsV1]),
      [
        [undefined, { "f:spec": { "f:color": {} } }],
        ["status", { "f:status": { "f:ready": {}, "f:step": {} } }],
      ],
    );
    const main = await place.apply(WIDGETS, widget("a", { color: "green" }));
    assertEquals([main.spec, main.status], [{ color: "green" }, { ready: true, step: 1 }]);
    const status = await place.apply(
      WIDGETS,
      { ...widget("a"), status: { ready: true } },
      { fieldManager: "one" },
      "/status",
    );
    assertEquals(status.status, { ready: true });
    await assertFails(
      place.apply(WIDGETS, { ...widget("b"), status: {} }, { fieldManager: "one" }, "/status"),
      404,
      "NotFound",
    );
  });

  test("apply checks its request", async (place) => {
    await assertFails(place.apply(MAPS, configMap("a"), {}), 422, "Invalid");
    await assertFails(place.apply(MAPS, { metadata: { name: "a" } }), 400, "BadRequest");
    const gone = { metadata: { uid: ABSENT_UID } };
    await assertFails(place.apply(MAPS, configMap("a", gone)), 409, "Conflict");
    const { metadata } = await place.apply(MAPS, configMap("a", { data: { x: "1" } }));
    await assertFails(place.apply(MAPS, configMap("a", { ...gone, data: { x: "2" } })), 422, "Invalid");
    const old = { metadata: { resourceVersion: metadata.resourceVersion } };
    await place.apply(MAPS, configMap("a", { ...old, data: { x: "2" } }));
    await assertFails(place.apply(MAPS, configMap("a", { ...old, data: { x: "3" } })), 409, "Conflict");
    const managed = { metadata: { managedFields: [{ manager: "x" }] } };
    await assertFails(place.apply(MAPS, configMap("a", managed)), 400, "BadRequest");
  });
}
