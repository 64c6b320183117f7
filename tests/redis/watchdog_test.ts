/** Tests of the watchdog, which closes a connection if the server leaves a call unanswered and sends no data. */

import { assertEquals } from "@std/assert";
import { Ending } from "../../packages/redis/connection/ending.ts";
import { Watchdog } from "../../packages/redis/connection/watchdog.ts";

/** Creates a watchdog for a connection without a socket. A timer keeps the process alive, as the socket would. */
function watched(silence: number | undefined) {
  const socket = setInterval(() => {}, 1000);
  const { reason: ended, end: close } = new Ending();
  const watchdog = new Watchdog({ silence, ended, close, isReady: true, send: () => Promise.resolve() });
  const closed = ended.then(({ message }) => {
    clearInterval(socket);
    return message;
  });
  return { watchdog, close, closed };
}

const TIME_OVER = "there was no answer within 5 ms";

Deno.test("watchdog: a sent command is unanswered", async () => {
  const { watchdog, closed } = watched(5);
  watchdog.sent();
  assertEquals(await closed, TIME_OVER);
});

Deno.test("watchdog: some of the sent commands are unanswered", async () => {
  const { watchdog, closed } = watched(5);
  watchdog.sent();
  watchdog.sent();
  watchdog.heard(true);
  assertEquals(await closed, TIME_OVER);
});

Deno.test("watchdog: a later command is unanswered", async () => {
  const { watchdog, closed } = watched(5);
  watchdog.sent();
  watchdog.heard(false);
  watchdog.sent();
  assertEquals(await closed, TIME_OVER);
});

Deno.test("watchdog: all commands are answered, or another party is responsible", async () => {
  const [answered, others, later] = [watched(5), watched(undefined), watched(10)];
  for (const { watchdog } of [answered, others, later]) watchdog.sent();
  answered.watchdog.heard(false);
  await later.closed;
  for (const { close, closed } of [answered, others]) {
    close(new Error("by the test"));
    assertEquals(await closed, "by the test");
  }
});
