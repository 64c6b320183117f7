/** Tests of TLS with certificates, against a server that requires a certificate of each client. */

import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { createRedisQueue, RedisConnectionError, type RedisTlsOptions } from "@workqueue/redis";
import { freePort } from "../keeper.ts";
import { connect } from "../../packages/redis/connection/connect.ts";
import { createScript } from "../../packages/redis/connection/script.ts";
import { Authority, HAS_OPENSSL } from "./certificates.ts";
import { take, until } from "./faults/faults.ts";
import { serverTest, uniqueName } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

const HALF = createScript(`return ARGV[1] / 2`);

/** Registers a test with a server that speaks TLS, and requires client certificates of an authority. */
function tlsTest(name: string, run: (url: string, authority: Authority, server: RedisServer) => Promise<void>): void {
  if (!HAS_OPENSSL) return console.log(`There is no openssl on the PATH: leaving out "${name}".`);
  serverTest(name, async () => {
    using authority = new Authority();
    const port = await freePort();
    await using server = await RedisServer.start({ args: ["--tls-port", `${port}`, ...authority.signServer()] });
    await run(`rediss://localhost:${port}`, authority, server);
  });
}

/** Calls a script and subscribes to a channel. Returns the error messages of both, without their common beginning. */
async function refusals(url: string, tls: RedisTlsOptions | undefined): Promise<string[]> {
  const connection = connect("connect", { url, tls });
  const calls = [connection.run(HALF, "key", [84]), connection.subscribe("channel", () => {})];
  const errors = await Promise.all(calls.map((call) => assertRejects(() => call, RedisConnectionError)));
  await connection.release();
  const start = `Cannot reach Redis at ${new URL(url).host}: `;
  for (const { message } of errors) assertStringIncludes(message, start); // rejects before the call timeout
  return errors.map(({ message }) => message.replace(start, ""));
}

tlsTest("tls: a queue works with a client certificate, also after a restart", async (url, authority, server) => {
  const tls = { ca: authority.ca, ...authority.sign("client", "extendedKeyUsage=clientAuth") };
  await using queue = createRedisQueue({ name: uniqueName("queue"), url, tls });
  await queue.add("a");
  const lease = await take(queue);
  assertEquals([lease.item, await lease.finish()], ["a", true]);
  const next = take(queue);
  await until(async () => /name=|cmd=/.test(String(await server.call("CLIENT", "LIST", "TYPE", "pubsub"))));
  await server.restart();
  await queue.add("b");
  assertEquals(await (await next).finish(), true);
});

tlsTest("tls: several certificate authorities may be given, and a name other than the host", async (url, authority) => {
  using other = new Authority();
  const client = authority.sign("client", "extendedKeyUsage=clientAuth");
  const local = url.replace("localhost", "127.0.0.1");
  for (const [at, servername] of [[url, undefined], [local, undefined], [local, "queues.test"]] as const) {
    const tls = { ca: `${other.ca}${authority.ca}`, ...client, servername };
    const connection = connect("connect", { url: at, tls });
    assertEquals(await connection.run(HALF, "key", [84]), 42);
    await connection.release();
  }
});

tlsTest("tls: a missing or unknown certificate is refused at once, with a reason", async (url, authority) => {
  using other = new Authority();
  const { ca } = authority;
  const client = authority.sign("client", "extendedKeyUsage=clientAuth");
  const strange = other.sign("client", "extendedKeyUsage=clientAuth");
  const needed = "the server requires a client certificate: set 'tls.cert' and 'tls.key'";
  assertEquals(await refusals(url, { ca }), [needed, needed]);
  const refused = "the server does not accept the certificate in 'tls.cert'";
  assertEquals(await refusals(url, { ca, ...strange }), [refused, refused]);
  const untrusted = "the server's certificate is not signed by a trusted authority: set 'tls.ca'";
  assertEquals(await refusals(url, { ca: other.ca, ...client }), [untrusted, untrusted]);
  assertEquals(await refusals(url, undefined), [untrusted, untrusted]);
  const renamed = "the server's certificate is for another host: set 'tls.servername' to one of its names";
  assertEquals(await refusals(url, { ca, ...client, servername: "other.test" }), [renamed, renamed]);
});

Deno.test("tls: wrong options are refused, and the error doesn't show them", () => {
  const pem = "-----BEGIN SECRET-----";
  const url = "rediss://localhost";
  const PEM = "must be text in PEM form (-----BEGIN …), not the name of a file";
  const wrong: [options: object, rule: string][] = [
    [{ url, tls: { ca: "/secret/ca.pem" } }, `'tls.ca' ${PEM}`],
    [{ url, tls: { cert: 1, key: pem } }, `'tls.cert' ${PEM}`],
    [{ url, tls: { cert: pem } }, "'tls.cert' and 'tls.key' must be given together"],
    [{ url, tls: { key: pem } }, "'tls.cert' and 'tls.key' must be given together"],
    [{ url, tls: { servername: "" } }, "'tls.servername' must be a non-empty string"],
    [{ url, tls: { pfx: pem } }, '"pfx" is not an option here'],
    [{ url, tls: pem }, "'tls' must be an object, such as { ca, cert, key }"],
    [{ url, tls: null }, "'tls' must be an object, such as { ca, cert, key }"],
    [{ url: "redis://localhost", tls: {} }, "'tls' needs a URL that begins with rediss://"],
    [{ tls: {} }, "'tls' needs a URL that begins with rediss://"],
    [{ client: {}, tls: {} }, "'tls' and 'client' must not both be given"],
  ];
  for (const [options, rule] of wrong) {
    const { message } = assertThrows(() => createRedisQueue({ name: "q", ...options }), TypeError);
    assertStringIncludes(message, `Cannot create Redis queue: ${rule}`);
    assertEquals(/secret/i.test(message), false);
  }
});
