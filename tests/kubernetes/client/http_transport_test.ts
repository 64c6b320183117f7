/** Tests of the connections to an API server, against servers on the loopback interface. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Client, NoAnswerError, StaleConnectionError } from "@workqueue/kubernetes";
import { join } from "node:path";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import type { ClientRequest } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import { createServer } from "node:tls";
import { Exchange } from "../../../packages/kubernetes/client/exchange.ts";
import type { HttpTransport } from "../../../packages/kubernetes/client/http_transport.ts";
import { keepAlive } from "../../../packages/kubernetes/client/keep_alive.ts";
import { Authority, HAS_OPENSSL } from "../../redis/certificates.ts";
import { type Answer, ApiServer, send, textOf, transportTo } from "./api_server.ts";

const hang: Answer = () => {};

/** Answers by the path: `/cut` breaks off, `/half` hangs after a part, `/reset` and `/hang` never answer. */
const answer: Answer = (request, response) => {
  const path = request.url!;
  if (path === "/reset") return void request.socket.destroy();
  if (path === "/hang") return;
  if (path === "/half" || path === "/cut") {
    response.write("part");
    if (path === "/cut") setTimeout(() => request.socket.destroy(), 50);
    return;
  }
  response.end(`${request.method} ${path}`);
};

Deno.test("requests one after the other use one connection, and requests at once at most 16", async () => {
  const held: (() => void)[] = [];
  await using server = await ApiServer.start((request, response) => {
    if (request.url !== "/held") return void response.end("ok");
    held.push(() => response.end("ok"));
    if (held.length === 16) held.splice(0).forEach((release) => release());
  });
  using transport = transportTo({ server: server.url });
  for (let i = 0; i < 3; i++) assertEquals(await textOf(await send(transport)), "ok");
  assertEquals(server.connections.length, 1);
  await Promise.all(Array.from({ length: 48 }, async () => await textOf(await send(transport, { path: "/held" }))));
  assertEquals(server.connections.length, 16);
});

Deno.test("onSent is called when the request has got a connection, and can keep it from being sent", async () => {
  const held: (() => void)[] = [];
  await using server = await ApiServer.start((request, response) => {
    if (request.url === "/held") held.push(() => response.end("ok"));
    else response.end("ok");
  });
  using transport = transportTo({ server: server.url });
  const running = Array.from({ length: 16 }, async () => await textOf(await send(transport, { path: "/held" })));
  while (held.length < 16) await server.received("GET /held").then(() => new Promise((resolve) => setTimeout(resolve)));
  const told: string[] = [];
  const onSent = (name: string) => () => {
    told.push(name);
    if (name === "late") throw new Error("too late");
  };
  const sent = send(transport, { method: "PUT", path: "/sent", body: "{}", onSent: onSent("sent") });
  const late = assertRejects(() => send(transport, { path: "/late", onSent: onSent("late") }), Error, "too late");
  await new Promise((resolve) => setTimeout(resolve, 50));
  assertEquals(told, []);
  for (const release of held) release();
  await Promise.all([...running, late]);
  assertEquals(await textOf(await sent), "ok");
  assertEquals([told.toSorted(), server.requests.filter((request) => request !== "GET /held")], [
    ["late", "sent"],
    ["PUT /sent"],
  ]);
});

Deno.test("a request carries its method, path, headers and body, and the response its status and headers", async () => {
  await using server = await ApiServer.start(({ method, url, headers }, response, body) => {
    response.writeHead(201, { "retry-after": "1" }).end(JSON.stringify([method, url, headers, body]));
  });
  using transport = transportTo({ server: `${server.url}/k8s/clusters/c/` });
  const headers = { "x-test": "1" };
  const response = await send(transport, { method: "PATCH", path: "/api?a=1", headers, body: "né" });
  const [method, url, sent, body] = JSON.parse(await textOf(response));
  assertEquals([method, url, sent["x-test"], sent["content-length"]], ["PATCH", "/k8s/clusters/c/api?a=1", "1", "3"]);
  assertEquals([response.status, response.headers["retry-after"], body], [201, "1", "né"]);
});

Deno.test("characters that are split between packets arrive whole", async () => {
  const text = "aé€😀z";
  await using server = await ApiServer.start(async (_request, response) => {
    for (const byte of new TextEncoder().encode(text)) {
      response.write(Uint8Array.of(byte));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  });
  using transport = transportTo({ server: server.url });
  assertEquals(await textOf(await send(transport)), text);
});

Deno.test("a connection that ends before the response is stale only if it carried other requests", async () => {
  await using server = await ApiServer.start(answer);
  using transport = transportTo({ server: server.url });
  const fresh = await assertRejects(() => send(transport, { path: "/reset" }), Error);
  assertEquals(fresh instanceof StaleConnectionError, false);
  for (const method of ["GET", "POST"]) {
    await textOf(await send(transport, { path: "/before" }));
    const count = server.requests.length;
    await assertRejects(() => send(transport, { method, path: "/reset", body: "{}" }), StaleConnectionError);
    assertEquals(server.requests.slice(count), [`${method} /reset`]); // the runtime doesn't repeat it
  }
});

Deno.test("a client repeats a request on a new connection if that is safe", async () => {
  let isFirst = false;
  await using server = await ApiServer.start((request, response) => {
    if (!isFirst) return void response.end("{}");
    isFirst = false;
    request.socket.destroy();
  });
  using transport = transportTo({ server: server.url });
  const client = new Client({ transport });
  await client.request("GET", "/a");
  server.requests.pop();
  for (const method of ["GET", "PATCH", "PUT", "DELETE"]) {
    isFirst = true;
    assertEquals(await client.request(method, "/a", { body: {} }), {});
    assertEquals(server.requests.splice(0), [`${method} /a`, `${method} /a`]);
  }
});

Deno.test("an aborted request is not repeated, and its connection is closed", async () => {
  await using server = await ApiServer.start(answer);
  using transport = transportTo({ server: server.url });
  for (const path of ["/hang", "/half"]) {
    await textOf(await send(transport));
    const abort = new AbortController();
    const closed = new Promise((resolve) => server.connections.at(-1)!.once("close", resolve));
    const reply = send(transport, { method: "POST", path, body: "{}", signal: abort.signal }).then(textOf);
    await server.received(`POST ${path}`);
    abort.abort(new Error("mine"));
    await assertRejects(() => reply, Error, "mine");
    await closed;
    assertEquals(server.requests.filter((request) => request === `POST ${path}`).length, 1);
  }
  await assertRejects(() => send(transport, { signal: AbortSignal.abort(new Error("before")) }), Error, "before");
});

Deno.test("a body that breaks off throws", async () => {
  await using server = await ApiServer.start(answer);
  using transport = transportTo({ server: server.url });
  await assertRejects(async () => await textOf(await send(transport, { path: "/cut" })), Error);
});

/** Begins an exchange without a connection, whose response the test gives. */
async function exchangeOf(response: Readable): Promise<{ sent: ClientRequest; text: () => Promise<string> }> {
  const sent = Object.assign(new EventEmitter(), { reusedSocket: false, destroy() {} }) as never as ClientRequest;
  const request = { method: "GET", path: "/", headers: {}, isAlone: false, idleTimeout: 1000 };
  const listener = { onArrival() {}, onBroken() {}, onEnd() {} };
  const exchange = new Exchange(sent, { ...request, signal: new AbortController().signal }, listener);
  const answer = exchange.response();
  sent.emit("response", Object.assign(response, { statusCode: 200, headers: {}, complete: false }));
  const found = await answer;
  return { sent, text: () => textOf(found) };
}

Deno.test("a body that ends early throws, even if the runtime reports a normal end", async () => {
  const { text } = await exchangeOf(Readable.from(["part"]));
  await assertRejects(text, Error, "the connection was closed");
});

Deno.test("a body that breaks off throws the error of the connection", async () => {
  const response = new Readable({ read() {} });
  const { sent, text } = await exchangeOf(response);
  sent.emit("error", new Error("read ETIMEDOUT"));
  response.destroy(new Error("aborted"));
  await assertRejects(text, Error, "read ETIMEDOUT");
});

Deno.test("a body that stops throws after the idle timeout, which each chunk begins again", async () => {
  using time = new FakeTime();
  let write: (text: string) => void;
  await using server = await ApiServer.start((_request, response) =>
    void (write = (text) => response.write(text))("1")
  );
  using transport = transportTo({ server: server.url });
  const { body } = await send(transport);
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next();
  for (let i = 0; i < 3; i++) {
    time.tick(60_000); // a slow reader is not a silent server
    const next = chunks.next();
    await time.runMicrotasks();
    time.tick(9999);
    write!("1");
    await next;
  }
  const next = chunks.next();
  await time.runMicrotasks();
  time.tick(10_000);
  await assertRejects(() => next, Error, "nothing arrived for 10000 ms");
});

Deno.test("after a timeout, no request uses a connection that was opened before", async () => {
  await using server = await ApiServer.start(answer);
  using transport = transportTo({ server: server.url });
  await Promise.all(["/a", "/b", "/c"].map(async (path) => await textOf(await send(transport, { path }))));
  const { length } = server.connections;
  const ended = Promise.all(
    server.connections.map((socket) => new Promise((resolve) => socket.once("close", resolve))),
  );
  {
    using time = new FakeTime();
    const reply = send(transport, { path: "/hang" });
    await server.received("GET /hang");
    time.tick(10_000);
    await assertRejects(() => reply, Error, "nothing arrived for 10000 ms");
  }
  await ended;
  await textOf(await send(transport));
  assertEquals(server.connections.length, length + 1);
});

Deno.test("connections are replaced after ten minutes", async () => {
  using time = new FakeTime();
  await using server = await ApiServer.start(answer);
  using transport = transportTo({ server: server.url });
  const ports = async () => {
    await textOf(await send(transport));
    return server.connections.length;
  };
  assertEquals(await ports(), 1);
  time.tick(599_999);
  assertEquals(await ports(), 1);
  const ended = new Promise((resolve) => server.connections[0]!.once("close", resolve));
  time.tick(1);
  assertEquals(await ports(), 2);
  await ended;
});

Deno.test("each watch has a connection of its own, which ends with it", async () => {
  await using server = await ApiServer.start((request, response) => {
    if (request.url === "/watch") response.write("line\n");
    else response.end("ok");
  });
  using transport = transportTo({ server: server.url });
  const abort = new AbortController();
  const watches = await Promise.all(
    Array.from({ length: 20 }, () => send(transport, { path: "/watch", signal: abort.signal, isAlone: true })),
  );
  assertEquals(await textOf(await send(transport)), "ok");
  assertEquals(server.connections.length, 21);
  const ended = server.connections.slice(0, 20).map((socket) =>
    new Promise((resolve) => socket.once("close", resolve))
  );
  const bodies = Promise.allSettled(watches.map(textOf));
  abort.abort("enough");
  for (const body of await bodies) assertEquals(body, { status: "rejected", reason: "enough" });
  await Promise.all(ended);
});

Deno.test("a reset lets a request end, and then closes its connection", async () => {
  let end: () => void;
  await using server = await ApiServer.start((_request, response) => {
    response.write("a");
    end = () => response.end("b");
  });
  using transport = transportTo({ server: server.url });
  const response = await send(transport);
  const closed = new Promise((resolve) => server.connections[0]!.once("close", resolve));
  transport.reset();
  end!();
  assertEquals(await textOf(response), "ab");
  await closed;
});

/** Opens a watch. Returns its chunks. */
async function openWatch(transport: HttpTransport): Promise<AsyncIterator<string>> {
  const { body } = await send(transport, { path: "/watch", isAlone: true, idleTimeout: 3_600_000 });
  const chunks = body[Symbol.asyncIterator]();
  assertEquals((await chunks.next()).value, "open");
  return chunks;
}

Deno.test("a watch ends soon after a proxy has lost the server, and stays open while the server answers", async () => {
  using time = new FakeTime();
  let isLost = false;
  await using server = await ApiServer.start((request, response) => {
    if (isLost) return;
    if (request.url === "/watch") response.write("open");
    else response.writeHead(401).end();
  });
  using transport = transportTo({ server: server.url });
  const next = (await openWatch(transport)).next();
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i += 5) {
      time.tick(5000);
      for (let turn = 0; turn < 20; turn++) await time.runMicrotasks();
    }
  };
  await pass(120);
  const asked = server.requests.filter((request) => request === "GET /version").length;
  assert(asked >= 5 && asked <= 8, `${asked} requests`);
  isLost = true;
  const error = assertRejects(() => next, Error, "neither this connection nor another one received anything");
  const { length: before } = server.requests;
  await pass(40);
  await error;
  const { length } = server.requests;
  assertEquals(length - before <= 2, true);
  await pass(60);
  assertEquals(server.requests.length, length);
});

Deno.test("a request that times out ends the watches that were silent for as long", async () => {
  using time = new FakeTime();
  let write: (text: string) => void;
  await using server = await ApiServer.start((request, response) => {
    if (request.url === "/watch") (write = (text) => response.write(text))("open");
  });
  using transport = transportTo({ server: server.url });
  const silent = (await openWatch(transport)).next();
  const chunks = await openWatch(transport); // `write` writes to this one
  const reply = send(transport, { path: "/hang", idleTimeout: 3000 });
  await server.received("GET /hang");
  const ended = assertRejects(() => silent, Error, "received anything for 3000 ms");
  time.tick(2000);
  write!("news");
  assertEquals((await chunks.next()).value, "news");
  time.tick(1000);
  await assertRejects(() => reply, Error, "nothing arrived for 3000 ms");
  await ended;
  write!("more");
  assertEquals((await chunks.next()).value, "more");
  await chunks.return!();
});

Deno.test("a watch that times out doesn't end other watches, because perhaps only its list is slow", async () => {
  using time = new FakeTime();
  const writes: ((text: string) => void)[] = [];
  await using server = await ApiServer.start((request, response) => {
    if (request.url !== "/watch") return;
    writes.push((text) => response.write(text));
    response.write("open");
  });
  using transport = transportTo({ server: server.url });
  const other = await openWatch(transport);
  const slow = await send(transport, { path: "/watch", isAlone: true, idleTimeout: 3000 });
  const ended = assertRejects(() => textOf(slow), Error, "nothing arrived for 3000 ms");
  await time.tickAsync(2000);
  await time.tickAsync(3000);
  await ended;
  writes[0]!("news");
  assertEquals((await other.next()).value, "news");
  await other.return!();
});

Deno.test("the system probes the connection of a watch, until it is closed", () => {
  using time = new FakeTime();
  const calls: unknown[][] = [];
  const socket = new EventEmitter();
  keepAlive(Object.assign(socket, { setKeepAlive: (...args: unknown[]) => calls.push(args) }) as never as Socket);
  time.tick(4000);
  assertEquals(calls, [[true, 16_000], [true, 15_000], [true, 16_000]]); // no two equal ones in a row
  socket.emit("close");
  time.tick(10_000);
  assertEquals(calls.length, 3);
});

Deno.test("an unreachable server is a NoAnswerError that says why", async () => {
  const server = await ApiServer.start(hang);
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const client = new Client({ transport: transportTo({ server: url }) });
  const error = await assertRejects(() => client.request("GET", "/a"), NoAnswerError);
  assert(/ECONNREFUSED|refused/i.test(error.message), error.message);
  client.close();
});

function tlsTest(name: string, run: (authority: Authority) => Promise<void>): void {
  if (!HAS_OPENSSL) return console.log(`There is no openssl on the PATH: leaving out "${name}".`);
  Deno.test(name, async () => {
    using authority = new Authority();
    await run(authority);
  });
}

/** Starts a server that answers with the name in the certificate of the client. */
async function secureServer(authority: Authority): Promise<AsyncDisposable & { url: string }> {
  authority.signServer();
  const read = (name: string) => readFileSync(join(authority.folder, name), "utf8");
  const options = { cert: read("server.crt"), key: read("server.key"), ca: authority.ca, requestCert: true };
  const server = createServer({ ...options, rejectUnauthorized: false }, (socket) => {
    const name = socket.getPeerCertificate()?.subject?.CN ?? "nobody";
    socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${name.length}\r\n\r\n${name}`));
    socket.on("error", () => {});
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

tlsTest("https: an authority, a client certificate and another name of the server", async (authority) => {
  using other = new Authority();
  await using server = await secureServer(authority);
  const { ca } = authority;
  const client = authority.sign("client", "extendedKeyUsage=clientAuth");
  const ask = async (tls: object) => {
    using transport = transportTo({ server: server.url, tls: () => tls });
    return await textOf(await send(transport));
  };
  assertEquals(await ask({ ca }), "nobody");
  assertEquals(await ask({ ca, ...client }), "client");
  assertEquals(await ask({ ca, servername: "queues.test" }), "nobody");
  assertEquals(await ask({ rejectUnauthorized: false }), "nobody");
  await assertRejects(() => ask({}), Error, "certificate");
  await assertRejects(() => ask({ ca: other.ca }), Error, "certificate");
  await assertRejects(() => ask({ ca, servername: "other.test" }), Error, "altnames");
});

tlsTest("https: changed certificates are used for the next request", async (authority) => {
  await using server = await secureServer(authority);
  const { ca } = authority;
  let tls: object = { ca, ...authority.sign("first", "extendedKeyUsage=clientAuth") };
  using transport = transportTo({ server: server.url, tls: () => tls });
  assertEquals(await textOf(await send(transport)), "first");
  tls = { ca, ...authority.sign("second", "extendedKeyUsage=clientAuth") };
  assertEquals(await textOf(await send(transport)), "second");
});
