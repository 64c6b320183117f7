/** Tests of the knowledge about values that were applied: from the managers of fields, and from answers. */

import { assertEquals } from "@std/assert";
import { AppliedValues } from "../../../packages/kubernetes/cache/applied.ts";

const meta = (more = {}) => ({ namespace: "default", name: "a", uid: "u", resourceVersion: "7", ...more });
const wanted = (content: object, metadata = {}) => ({
  ...{ apiVersion: "v1", kind: "Thing", metadata: { namespace: "default", name: "a", ...metadata } },
  ...content,
});
const owner = { apiVersion: "v1", kind: "Owner", name: "o", uid: "1", controller: true };
const OWNED = { "f:metadata": { "f:ownerReferences": { 'k:{"uid":"1"}': {} } } };
const ports = { spec: { ports: [{ port: 80, name: "web" }, { port: 443 }] } };
const PORTS = {
  "f:spec": {
    "f:ports": {
      'k:{"port":443,"protocol":"TCP"}': { ".": {}, "f:port": {} },
      'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} },
    },
  },
};
const livePorts = [{ protocol: "TCP", port: 80, name: "web" }, { port: 443, protocol: "TCP", nodePort: 3 }];

/** Whether applying a value changes nothing: value, fields of the manager, object, and the metadata of the object. */
const CASES: Record<string, [result: boolean, body: object, fields: object, content: object, metadata?: object]> = {
  "the same values": [true, wanted({ data: { x: "1" } }), { "f:data": { "f:x": {} } }, { data: { x: "1" } }],
  "another order of fields": [
    true,
    wanted({ data: { x: "1", y: { b: 1, a: 2 } } }),
    { "f:data": { "f:y": {}, "f:x": {} } },
    { data: { y: { a: 2, b: 1 }, x: "1" } },
  ],
  "further fields of others": [
    true,
    wanted({ data: { x: "1" } }, { labels: { l: "1" } }),
    { "f:data": { "f:x": {} }, "f:metadata": { "f:labels": { "f:l": {} } } },
    { data: { x: "1", z: "1" }, status: { ready: true } },
    { labels: { l: "1", m: "2" }, annotations: { a: "" } },
  ],
  "another value": [false, wanted({ data: { x: "2" } }), { "f:data": { "f:x": {} } }, { data: { x: "1" } }],
  "a further field": [
    false,
    wanted({ data: { x: "1", y: "1" } }),
    { "f:data": { "f:x": {} } },
    { data: { x: "1", y: "1" } },
  ],
  "a field less": [
    false,
    wanted({ data: { x: "1" } }),
    { "f:data": { "f:x": {}, "f:y": {} } },
    { data: { x: "1", y: "1" } },
  ],
  "a field of the manager that is missing": [
    false,
    wanted({ data: { x: "1" } }),
    { "f:data": { "f:x": {}, "f:y": {} } },
    { data: { x: "1" } },
  ],
  "a field whose name is that of a property of all objects": [
    false,
    wanted({ data: { x: "1" } }),
    { "f:data": { "f:x": {}, "f:toString": {} } },
    { data: { x: "1" } },
  ],
  "a default within an atomic value": [
    false,
    wanted({ spec: { list: [{ a: 1 }] } }),
    { "f:spec": { "f:list": {} } },
    { spec: { list: [{ a: 1, b: "default" }] } },
  ],
  "an empty map that is empty": [true, wanted({ data: {} }), { "f:data": {} }, { data: {} }],
  "an empty map with fields of others": [false, wanted({ data: {} }), { "f:data": {} }, { data: { z: "1" } }],
  "items with keys, and defaults in them": [true, wanted(ports), PORTS, { spec: { ports: livePorts } }],
  "items in another order": [false, wanted(ports), PORTS, { spec: { ports: livePorts.toReversed() } }],
  "an item that is missing": [false, wanted(ports), PORTS, { spec: { ports: livePorts.slice(0, 1) } }],
  "the same owner": [true, wanted({}, { ownerReferences: [owner] }), OWNED, {}, { ownerReferences: [owner] }],
  "an owner that was created again": [
    false,
    wanted({}, { ownerReferences: [{ ...owner, uid: "2" }] }),
    OWNED,
    {},
    { ownerReferences: [owner] },
  ],
  "items of a set, and one of another manager": [
    true,
    wanted({}, { finalizers: ["b", "a<&"] }),
    { "f:metadata": { "f:finalizers": { 'v:"a\\u003c\\u0026"': {}, 'v:"b"': {} } } },
    {},
    { finalizers: ["b", "other", "a<&"] },
  ],
  "an item that is found by its index": [
    false,
    wanted({ list: ["a"] }),
    { "f:list": { "i:0": {} } },
    { list: ["a"] },
  ],
  "a version or uid that the object must have": [
    false,
    wanted({ data: { x: "1" } }, { resourceVersion: "7" }),
    { "f:data": { "f:x": {} } },
    { data: { x: "1" } },
  ],
};

for (const [name, [result, body, fieldsV1, content, metadata]] of Object.entries(CASES)) {
  Deno.test(`a value that was applied, by the managers of its fields: ${name}`, () => {
    const own = { manager: "me", operation: "Apply", apiVersion: "v1", fieldsV1 };
    const applied = (entry: object) => {
      const values = new AppliedValues("me", "v1");
      const others = [{ manager: "other", operation: "Apply", apiVersion: "v1", fieldsV1: { "f:data": {} } }];
      const object = { ...wanted(content), metadata: meta({ ...metadata, managedFields: [...others, entry] }) };
      values.observe(object, object);
      return values.has(body as never, object);
    };
    assertEquals(applied(own), result);
    for (
      const other of [
        { manager: "you" },
        { operation: "Update" },
        { apiVersion: "v2" },
        { subresource: "status" },
      ]
    ) assertEquals(applied({ ...own, ...other }), false);
  });
}

Deno.test("an applied value is known from the answer, as long as the object is the same", () => {
  const values = new AppliedValues("me", "v1");
  const body = wanted({ spec: { memory: "1024Mi" } });
  const answer = { ...wanted({ spec: { memory: "1Gi" } }), metadata: meta() };
  values.add(body, answer);
  const changed = { ...answer, metadata: meta({ resourceVersion: "8" }) };
  values.observe(changed, changed); // nobody applied it
  assertEquals([values.has(body, answer), values.has(wanted({ spec: {} }), answer), values.has(body, changed)], [
    true,
    false,
    false,
  ]);
});
