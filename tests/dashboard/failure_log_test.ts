/**
 * Tests of the lines that the dashboard logs on a failure. An error may quote an item, so the error's text must not be
 * able to break the line or control a terminal.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { logFailure } from "../../packages/dashboard/http/failure_log.ts";

/** Returns the line that is logged for a thrown value. */
function lineOf(thrown: unknown): string {
  const lines: unknown[][] = [];
  const { error } = console;
  console.error = (...words: unknown[]) => lines.push(words);
  try {
    logFailure("answer", thrown);
  } finally {
    console.error = error;
  }
  assertEquals([lines.length, lines[0]!.length], [1, 1]);
  return String(lines[0]![0]);
}

Deno.test("dashboard: a failure is one line that can't control a terminal, and includes the place", () => {
  const line = lineOf(new SyntaxError(`Unexpected token '\u001b', "\u001b[2J\nqueue \u202eis fine\u009b" is not JSON`));
  assert(!/[\p{Cc}\p{Bidi_Control}]/u.test(line), JSON.stringify(line));
  assertMatch(line, /^The dashboard failed to answer: .*failure_log_test\.ts:\d+/);
});

Deno.test("dashboard: a failure is logged, whatever was thrown", () => {
  assertEquals(lineOf("no\nmore"), "The dashboard failed to answer: no more");
  const broken = new Proxy({}, {
    getPrototypeOf() {
      throw new Error("broken");
    },
    get() {
      throw new Error("broken");
    },
  });
  assertEquals(lineOf(broken), "The dashboard failed to answer: something that cannot be shown");
});
