/** Tests of the client with a transport of the test: requests, errors, retries and watches. */

import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError, Client, NoAnswerError } from "@workqueue/kubernetes";
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
    isWatch: false,
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

Deno.test("a busy server is asked again after the time in Retry-After", async () => {
  using time = new FakeTime();
  const { transport, client } = stubClient();
  const busy = { status: 429, headers: { "retry-after": "2" }, body: { kind: "Status", reason: "TooManyRequests" } };
  transport.next.push(busy, { ...busy, status: 503 }, { body: { kind: "Pod" } });
  const reply = client.request("GET", POD);
  await flush();
  await time.tickAsync(1999);
  assertEquals(transport.requests.length, 1);
  await time.tickAsync(1);
  await flush();
  assertEquals(transport.requests.length, 2);
  await time.tickAsync(2000);
  assertEquals(await reply, { kind: "Pod" });
});

Deno.test("a watch yields its events and ends with its response", async () => {
  const { transport, client } = stubClient();
  const { signal } = new AbortController();
  transport.next.push({ chunks: [`{"a":1}\n{"a`, `":2}\n`, "\n", `{"a":`, `3}\n{"a":4`] });
  assertEquals(await collect(client.watch("/pods", { query: { watch: true }, signal })), [{ a: 1 }, { a: 2 }, {
    a: 3,
  }]);
  assertEquals([transport.requests[0]!.isWatch, transport.requests[0]!.path], [true, "/pods?watch=true"]);
  transport.next.push({ status: 410, body: { kind: "Status", reason: "Expired", message: "too old" } });
  const error = await assertRejects(() => collect(client.watch("/pods", { signal })), ApiError);
  assertEquals([error.status, error.reason], [410, "Expired"]);
  transport.next.push({ chunks: [`{"a":1}\n`, new Error("reset")] });
  await assertRejects(() => collect(client.watch("/pods", { signal })), NoAnswerError, "GET /pods: no answer: reset");
});
