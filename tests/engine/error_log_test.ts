/** Tests of the error log on the console, which is used if there is no error callback. */

import { assert, assertEquals } from "@std/assert";
import { ErrorLog } from "../../packages/engine/error_log.ts";

/** Runs `write` and returns the lines written to the console. */
function linesOf(write: () => void): string[] {
  const lines: string[] = [];
  const { error } = console;
  console.error = (...words: unknown[]) => lines.push(words.join(" "));
  try {
    write();
  } finally {
    console.error = error;
  }
  return lines;
}

Deno.test("error log: an error is one line, whatever it contains", () => {
  const broken = new SyntaxError(
    `Unexpected token '\u001b', "\u001b[2J\r\nqueue \u202eis fine\u2028\u009b1A" is not valid JSON`,
  );
  const [line, ...others] = linesOf(() => new ErrorLog(`Queue "q" on Redis`, undefined).write(broken));
  assertEquals(others, []);
  assertEquals(
    line,
    `Queue "q" on Redis: SyntaxError: Unexpected token ' ', " [2J queue  is fine 1A" is not valid JSON`,
  );
  const [long] = linesOf(() => new ErrorLog("q", undefined).write(new Error("x".repeat(10_000))));
  assert(long!.length < 1100);
});

Deno.test("error log: a callback gets the original error, and an error of the callback is dropped", async () => {
  const given: unknown[] = [];
  const error = new Error("first\nsecond");
  for (const fail of [() => Promise.reject("later"), () => assert(false)]) {
    const lines = linesOf(() =>
      new ErrorLog("q", (error) => {
        given.push(error);
        return fail() as never;
      }).write(error)
    );
    assertEquals(lines, []);
  }
  await Promise.resolve();
  assertEquals(given, [error, error]);
});
