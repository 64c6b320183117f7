/** Tests of what the client knows about whether its server answers. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Client } from "@workqueue/kubernetes";
import { flush, isSettled } from "../../queue_helpers.ts";
import { StubTransport } from "./stub_transport.ts";

/** Returns a client that has just got no answer, after the first probe. */
async function lost(): Promise<{ transport: StubTransport; client: Client }> {
  const transport = new StubTransport();
  const client = new Client({ transport });
  transport.answer = () => new Error("connection refused");
  await client.request("GET", "/a").catch(() => {});
  await flush();
  return { transport, client };
}

Deno.test("reachability: an answer with any status shows that the server answers", async () => {
  const transport = new StubTransport();
  const client = new Client({ transport });
  transport.answer = () => ({ status: 500, body: {} });
  await client.request("GET", "/a").catch(() => {});
  assertEquals(client.isAnswering, true);
  await client.whenAnswering();
});

Deno.test("reachability: while nothing answers, there is one probe a second, at different times", async () => {
  using time = new FakeTime();
  const { transport, client } = await lost();
  client.whenAnswering().catch(() => {});
  const more = Array.from({ length: 20 }, (_, i) => client.request("GET", `/${i}`).catch(() => {}));
  await Promise.all(more);
  const probes = () => transport.requests.filter(({ path }) => path === "/version");
  assertEquals(probes().length, 1);
  assertEquals([client.isAnswering, probes()[0]!.isAlone], [false, true]);
  const gaps = new Set<number>();
  for (let ms = 0, last = 0, count = 1; ms <= 60_000; ms += 10) {
    time.tick(10);
    await Promise.resolve();
    if (ms % 100 === 0) await flush();
    if (probes().length === count) continue;
    count = probes().length;
    if (last > 0) gaps.add(ms - last);
    last = ms;
  }
  assert(probes().length >= 48 && probes().length <= 81, `${probes().length} probes`);
  assert(gaps.size > 5);
  client.close();
});

Deno.test("reachability: if nobody waits, there are no more probes, until somebody waits again", async () => {
  using time = new FakeTime();
  const { transport, client } = await lost();
  const probes = () => transport.requests.filter(({ path }) => path === "/version").length;
  const wait = async (ms: number) => {
    for (let left = ms; left > 0; left -= 250) {
      time.tick(250);
      await flush();
    }
  };
  await wait(10_000);
  assertEquals([probes(), client.isAnswering], [1, false]);
  const waiting = client.whenAnswering();
  await wait(5000);
  assert(probes() >= 4, `${probes()} probes`);
  transport.answer = () => ({ status: 200, body: {} });
  await wait(1250);
  await waiting;
  transport.answer = () => new Error("connection refused");
  await client.request("GET", "/b").catch(() => {}); // another outage
  const before = probes();
  const again = client.whenAnswering();
  transport.answer = () => ({ status: 200, body: {} });
  await wait(1250);
  await again;
  assert(probes() > before);
});

Deno.test("reachability: an answer to a probe wakes everybody, and ends the probes", async () => {
  using time = new FakeTime();
  const { transport, client } = await lost();
  const waiting = [client.whenAnswering(), client.whenAnswering()];
  assertEquals(await isSettled(waiting[0]!), false);
  transport.answer = () => ({ status: 403, body: {} });
  time.tick(1250);
  await Promise.all(waiting);
  assertEquals(client.isAnswering, true);
  const { length } = transport.requests;
  time.tick(60_000);
  await flush();
  assertEquals(transport.requests.length, length);
});

Deno.test("reachability: a probe that hangs doesn't delay the next one", async () => {
  using time = new FakeTime();
  const { transport, client } = await lost();
  const send = transport.send.bind(transport);
  let hanging = 0;
  transport.send = (request) => ++hanging > 3 ? send(request) : new Promise(() => {});
  transport.answer = () => ({ body: {} });
  const waiting = client.whenAnswering();
  for (let i = 0; i < 4; i++) {
    time.tick(1250);
    await flush();
  }
  await waiting;
});

Deno.test("reachability: an answer to another request wakes everybody, too", async () => {
  using _time = new FakeTime();
  const { transport, client } = await lost();
  const waiting = client.whenAnswering();
  transport.answer = () => ({ body: {} });
  await client.request("GET", "/a");
  await waiting;
});

Deno.test("reachability: a signal ends the waiting, and so does the end of the client", async () => {
  using _time = new FakeTime();
  const { client } = await lost();
  const abort = new AbortController();
  const waiting = [client.whenAnswering(abort.signal), client.whenAnswering()] as const;
  abort.abort(new Error("mine"));
  await assertRejects(() => waiting[0], Error, "mine");
  assertEquals(await isSettled(waiting[1]), false);
  client.close();
  await assertRejects(() => waiting[1], Error, "The client was closed");
  await assertRejects(() => client.whenAnswering(), Error, "The client was closed");
});
