/** Tests of server URLs. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseAddress, showAddress } from "../../packages/redis/connection/address.ts";

const NOBODY = { username: undefined, password: undefined };
const LOCAL = { host: "localhost", port: 6379, tls: false, ...NOBODY, database: 0 };

Deno.test("address: Redis's defaults fill in the parts that a URL omits", () => {
  assertEquals(parseAddress("connect", "redis://localhost"), LOCAL);
  assertEquals(parseAddress("connect", "redis://localhost/"), LOCAL);
});

Deno.test("address: a URL sets the server, the user, the database and TLS", () => {
  const { host, port, tls, ...rest } = parseAddress("connect", "rediss://me:p%40ss%2Fw%25rd@example.org:7000/12");
  assertEquals([host, port, tls], ["example.org", 7000, true]);
  assertEquals(rest, { username: "me", password: "p@ss/w%rd", database: 12 });
  assertEquals(parseAddress("connect", "redis://:secret@[::1]"), { ...LOCAL, host: "::1", password: "secret" });
});

Deno.test("address: the displayed address has neither user nor password", () => {
  assertEquals(showAddress(parseAddress("connect", "redis://me:secret@example.org:7000/1")), "example.org:7000");
  assertEquals(showAddress(parseAddress("connect", "redis://me:secret@[::1]")), "[::1]:6379");
});

Deno.test("address: an invalid address is refused, and the error doesn't show it", () => {
  const END = "must end with the host, the port or the number of a database, such as /1: percent-encode the user";
  const wrong: [url: unknown, rule: string][] = [
    ["me:secret", "must begin with redis:// or rediss://, got me://"],
    ["//me:secret@localhost", "must be a URL such as"],
    ["", "must be a URL such as"],
    [6379, "must be a URL such as"],
    [null, "must be a URL such as"],
    ["http://me:secret@localhost", "must begin with redis:// or rediss://, got http://"],
    ["redis://", "must have a host"],
    ["redis:///1", "must have a host"],
    ["redis://me:secret@localhost/one", END],
    ["redis://me:secret@localhost/-1", END],
    ["redis://me:secret@localhost/1/2", END],
    ["redis://me:secret@localhost?db=1", END],
    ["redis://me:secret@localhost#1", END],
    // In these passwords, an unescaped character ends the host part of the URL too early. The URL parser reads the
    // beginning of the password as a port.
    ["redis://me:12/secret@localhost", END],
    ["redis://me:12?secret@localhost", END],
    ["redis://me:12#secret@localhost", END],
    ["redis://me:no/secret@localhost", "must be a URL such as"],
    ["redis://me:secret%@localhost", "must have its user and its password percent-encoded"],
    ["redis://me:secret@localhost:99999", "must be a URL such as"],
  ];
  for (const [url, rule] of wrong) {
    const { message } = assertThrows(() => parseAddress("create queue", url), TypeError);
    assert(message.startsWith(`Cannot create queue: 'url' ${rule}`), message);
    assert(!message.includes("secret"), message);
  }
});
