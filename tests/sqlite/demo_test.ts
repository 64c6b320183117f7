/** Tests of the demo as a user starts it. */

import { assertEquals, assertMatch } from "@std/assert";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { ended, interrupt, isLeft, startDemo } from "../demos.ts";

function folders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("workqueue-demo-"));
}

Deno.test("demo on SQLite: the service is killed three times, and each of forty webhooks is delivered once", async () => {
  const before = folders();
  const demo = startDemo("sqlite");
  const { code, stdout, stderr } = await ended(demo);
  assertEquals(code, 0, stdout + stderr);
  assertEquals(isLeft(demo), false);
  assertEquals(stdout.match(/events are delivered; kill -9$/gm)?.length, 3);
  assertMatch(stdout, /the service runs; [1-9]\d* events wait in its file/);
  assertMatch(stdout, /event-07 failed: the receiver answered 503; it will be retried/);
  assertMatch(stdout, /^delivered: +40 events, each once$/m);
  assertMatch(stdout, /^killed: +3 times/m);
  assertMatch(stdout, /0 ready, 0 delayed, 0 processing, 0 given up/);
  assertEquals(folders().filter((name) => !before.includes(name)), []);
});

Deno.test("demo on SQLite: Ctrl-C leaves no process", async () => {
  assertEquals(await interrupt(startDemo("sqlite"), "the service runs"), 130);
});
