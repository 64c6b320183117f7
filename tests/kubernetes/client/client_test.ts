/** Tests of the client with a transport of the test: requests, errors, retries and watches. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError, Client, HttpTransport, NoAnswerError, StaleConnectionError } from "@workqueue/kubernetes";
import { flush } from "../../queue_helpers.ts";
import { StubTransport } from "./stub_transport.ts";

const POD = "/api/v1/namespaces/default/pods/a";

function stubClient(): { transport: StubTransport; client: Client } {
  const transport = new StubTransport();
  return { transport, client: new Client({ transport }) };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

Deno.test("a request has a method, a path, a query, headers and a body, and resolves with the object", async () => {
  const transport = new StubTransport();
  transport.next.push({ body: { kind: "Pod" } });
  const client = new Client({ transport, headers: () => ({ authorization: "Bearer t" }) });
  const options = {
    query: { fieldManager: "a b", force: true, limit: 500, continue: undefined },
    body: { spec: 1 },
    contentType: "application/apply-patch+yaml",
    timeout: "5s",
  };
  assertEquals(await client.request("PATCH", POD, options), { kind: "Pod" });
  const [{ signal: _, ...sent }] = transport.requests as [typeof transport.requests[0]];
  assertEquals(sent, {
    method: "PATCH",
    path: `${POD}?fieldManager=a+b&force=true&limit=500`,
    headers: {
      accept: "application/json",
      "user-agent": "workqueue-kubernetes",
      "content-type": "application/apply-patch+yaml",
      authorization: "Bearer t",
    },
    body: `{"spec":1}`,
    idleTimeout: 5000,
    isAlone: false,
  });
});

Deno.test("an error response rejects with its status, reason, message and details", async () => {
  const { transport, client } = stubClient();
  const details = { causes: [{ reason: "FieldManagerConflict" }] };
  transport.next.push({ status: 409, body: { kind: "Status", reason: "Conflict", message: "changed", details } });
  const error = await assertRejects(() => client.request("PUT", POD, { query: { a: 1 } }), ApiError);
  assertEquals(error.message, `PUT ${POD}: 409 Conflict: changed`);
  assertEquals([error.code, error.status, error.reason, error.details], ["WQ_API", 409, "Conflict", details]);
  transport.next.push({ status: 502, chunks: ["<html>bad gateway</html>"] });
  const other = await assertRejects(() => client.request("GET", POD), ApiError);
  assertEquals([other.message, other.reason], [`GET ${POD}: 502: <html>bad gateway</html>`, ""]);
});

Deno.test("a request without an answer rejects with the connection's error as the cause", async () => {
  const { transport, client } = stubClient();
  for (const answer of [new Error("refused"), { chunks: [`{"a":`, new Error("reset")] }, { chunks: [`{"a":`] }]) {
    transport.next.push(answer);
    const error = await assertRejects(() => client.request("GET", POD), NoAnswerError);
    assertEquals(error.code, "WQ_CONNECTION");
    assertEquals(error.message.startsWith(`GET ${POD}: no answer: `), true);
    assertEquals(error.cause instanceof Error, true);
  }
  client.close();
});

Deno.test("a busy server is asked again after the time in Retry-After, or a little later", async () => {
  using time = new FakeTime();
  const { transport, client } = stubClient();
  const busy = { status: 429, headers: { "retry-after": "2" }, body: { kind: "Status", reason: "TooManyRequests" } };
  transport.next.push(busy, { ...busy, status: 503 }, { body: { kind: "Pod" } });
  const reply = client.request("GET", POD);
  await flush();
  await time.tickAsync(1999);
  assertEquals(transport.requests.length, 1);
  await time.tickAsync(401);
  await flush();
  assertEquals(transport.requests.length, 2);
  await time.tickAsync(2400);
  assertEquals(await reply, { kind: "Pod" });
});

Deno.test("Retry-After can be a date", async () => {
  using _time = new FakeTime(new Date("2026-01-01T00:00:00Z"));
  const { transport, client } = stubClient();
  for (
    const [header, expected] of [
      ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
      ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
      ["later", undefined],
    ] as const
  ) {
    transport.next.push({ status: 409, headers: { "retry-after": header }, body: {} });
    assertEquals((await assertRejects(() => client.request("GET", POD), ApiError)).retryAfter, expected);
  }
});

Deno.test("a server that stays busy is asked ten times, and one that asks for a long pause only once", async () => {
  using time = new FakeTime();
  const { transport, client } = stubClient();
  transport.answer = () => ({ status: 429, body: { kind: "Status", details: { retryAfterSeconds: 1 } } });
  const reply = assertRejects(() => client.request("POST", POD, { body: {} }), ApiError);
  for (let i = 0; i < 20; i++) {
    await flush();
    time.tick(1000);
  }
  assertEquals([(await reply).retryAfter, transport.requests.length], [1000, 10]);
  transport.answer = () => ({ status: 503, headers: { "retry-after": "31" }, body: {} });
  assertEquals((await assertRejects(() => client.request("GET", POD), ApiError)).retryAfter, 31_000);
  transport.answer = () => ({ status: 503, body: {} });
  assertEquals((await assertRejects(() => client.request("GET", POD), ApiError)).retryAfter, undefined);
  assertEquals(transport.requests.length, 12);
});

Deno.test("a signal ends the wait for a busy server", async () => {
  const { transport, client } = stubClient();
  transport.answer = () => ({ status: 429, headers: { "retry-after": "30" }, body: {} });
  const abort = new AbortController();
  const reply = client.request("GET", POD, { signal: abort.signal });
  await flush();
  abort.abort(new Error("mine"));
  await assertRejects(() => reply, Error, "mine");
});

Deno.test("a 401 makes the client read the credentials again, once per request", async () => {
  const transport = new StubTransport();
  let [token, refreshes] = [1, 0];
  const headers = () => Promise.resolve({ authorization: `Bearer ${token}` });
  const client = new Client({ transport, headers, refresh: () => void (token++, refreshes++) });
  transport.answer = (request) => ({ status: request.headers["authorization"] === "Bearer 2" ? 200 : 401, body: {} });
  assertEquals(await client.request("POST", POD, { body: { a: 1 } }), {});
  assertEquals([transport.requests.length, transport.requests[1]!.body, refreshes], [2, `{"a":1}`, 1]);
  transport.answer = () => ({ status: 401, body: { kind: "Status", reason: "Unauthorized" } });
  await assertRejects(() => client.request("GET", POD), ApiError, "401 Unauthorized");
  assertEquals([transport.requests.length, refreshes], [4, 2]);
});

Deno.test("onSent runs before each try, and can refuse the request", async () => {
  using time = new FakeTime();
  const { transport, client } = stubClient();
  let sent = 0;
  const onSent = () => {
    if (++sent === 2) throw new Error("too late");
  };
  transport.next.push({ status: 429, headers: { "retry-after": "1" }, body: {} });
  const reply = assertRejects(() => client.request("PUT", POD, { body: {}, onSent }), Error, "too late");
  await flush();
  time.tick(1200);
  await reply;
  assertEquals(transport.requests.length, 1);
});

Deno.test("a request on a stale connection is sent again if that is safe", async () => {
  const { transport, client } = stubClient();
  const stale = new StaleConnectionError("socket hang up");
  for (const [method, contentType] of [["GET"], ["PUT"], ["DELETE"], ["PATCH", "application/merge-patch+json"]]) {
    transport.next.push(stale);
    assertEquals(await client.request(method!, POD, { ...(contentType && { contentType }) }), {});
    assertEquals(transport.requests.splice(0).length, 2);
  }
  for (const [method, contentType] of [["POST"], ["PATCH", "application/json-patch+json"]]) {
    transport.next.push(stale);
    await assertRejects(() => client.request(method!, POD, { ...(contentType && { contentType }) }), NoAnswerError);
    assertEquals(transport.requests.splice(0).length, 1);
  }
  transport.next.push(stale, stale);
  await assertRejects(() => client.request("GET", POD), NoAnswerError);
  assertEquals(client.isAnswering, true); // the server may well be there
});

Deno.test("text is returned as it is", async () => {
  const { transport, client } = stubClient();
  transport.next.push({ chunks: ["a\nb"], headers: { "content-type": "text/plain" } });
  assertEquals(await client.request("GET", `${POD}/log`), "a\nb");
});

Deno.test("a list calls back with each item, and resolves with its metadata", async () => {
  const { transport, client } = stubClient();
  const metadata = { resourceVersion: "7", continue: "c" };
  transport.next.push({ body: { kind: "PodList", items: [{ a: 1 }, { a: 2 }], metadata } });
  const items: unknown[] = [];
  const onItem = (item: unknown) => items.push(item);
  const { size, ...list } = await client.list("/api/v1/pods", { query: { limit: 2 }, onItem });
  assertEquals([items, list, size > 50], [[{ a: 1 }, { a: 2 }], { metadata }, true]);
  transport.next.push({ chunks: [`{"items":[{"a":1},{"a"`] });
  await assertRejects(() => client.list("/api/v1/pods", { onItem }), NoAnswerError, "the list is not complete");
  transport.next.push({ status: 410, body: { kind: "Status", reason: "Expired" } });
  await assertRejects(() => client.list("/api/v1/pods", { onItem }), ApiError, "410 Expired");
  transport.next.push({ body: { items: [1] } });
  const broken = () => {
    throw new RangeError("mine");
  };
  await assertRejects(() => client.list("/api/v1/pods", { onItem: broken }), RangeError, "mine");
});

Deno.test("options are checked", async () => {
  const { transport, client } = stubClient();
  await assertRejects(() => client.request("GET", POD, { timeout: 0 }), RangeError, "'timeout' must be a duration");
  const { signal } = new AbortController();
  const watch = client.watch(POD, { signal, idleTimeout: "soon" });
  await assertRejects(() => watch.next(), TypeError, "'idleTimeout' must be a duration");
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  await assertRejects(() => client.request("PUT", POD, { body: cyclic }), TypeError);
  assertEquals(transport.requests.length, 0);
  const create = (options: object) => () => new Client(options as never);
  assertThrows(create({}), TypeError, "Cannot create client: 'transport' must be a transport, got undefined");
  assertThrows(create({ transport, header: {} }), TypeError, 'did you mean "headers"');
  assertThrows(create({ transport, refresh: {} }), TypeError, "'refresh' must be a function");
  assertThrows(() => Client.fromEnvironment({ context: [] as never }), TypeError, "'context' must be a string");
  assertThrows(() => new HttpTransport({ server: "localhost:80" }), TypeError, "'server' must be a URL");
});

Deno.test("a watch yields its events and ends with its response", async () => {
  const { transport, client } = stubClient();
  const { signal } = new AbortController();
  transport.next.push({ chunks: [`{"a":1}\n{"a`, `":2}\n`, "\n", `{"a":`, `3}\n{"a":4`] });
  assertEquals(await collect(client.watch("/pods", { query: { watch: true }, signal })), [{ a: 1 }, { a: 2 }, {
    a: 3,
  }]);
  assertEquals([transport.requests[0]!.isAlone, transport.requests[0]!.path], [true, "/pods?watch=true"]);
  transport.next.push({ status: 410, body: { kind: "Status", reason: "Expired", message: "too old" } });
  const error = await assertRejects(() => collect(client.watch("/pods", { signal })), ApiError);
  assertEquals([error.status, error.reason], [410, "Expired"]);
  transport.next.push({ chunks: [`{"a":1}\n`, new Error("reset")] });
  await assertRejects(() => collect(client.watch("/pods", { signal })), NoAnswerError, "GET /pods: no answer: reset");
});
