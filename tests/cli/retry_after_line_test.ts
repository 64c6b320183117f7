import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { RetryAfterLine } from "../../packages/cli/children/retry_after_line.ts";

/** Returns the delay after chunks of error output. */
function delayAfter(...chunks: string[]): number {
  const line = new RetryAfterLine();
  for (const chunk of chunks) line.write(new TextEncoder().encode(chunk));
  return line.delay;
}

/** Error outputs with the delays that they ask for, in milliseconds. */
const DELAYS: Record<string, number> = {
  "": 0,
  "retry-after: 30s\n": 30_000,
  "retry-after: 30\n": 30_000,
  "retry-after: 30": 30_000, // without a line feed at its end
  "Retry-After: 120\r\n": 120_000,
  "  RETRY-AFTER:1m30s \n": 90_000,
  "retry-after: 250ms\n": 250,
  "retry-after: 0\n": 0,
  "retry-after: 5s\nretry-after: 7s\n503\n": 7000,
  "retry-after: 5s\nretry-after: soon\n": 5000,
  "retry-after: -5s\n": 0,
  "retry-after: 1.5\n": 1500,
  "retry-after: 1e3\n": 0,
  "retry-after: 5 s\n": 0,
  "retry-after: Sun, 06 Nov 1994 08:50:07 GMT\n": 30_000,
  "Retry-After:Sunday, 06-Nov-94 08:49:38 GMT \r\n": 1000,
  "retry-after: Sun Nov  6 09:49:37 1994": 3_600_000,
  "retry-after: Sun, 06 Nov 1994 08:49:36 GMT\n": 0, // has passed
  "retry-after: 5s\nretry-after: Sun, 06 Nov 1994 08:49:00 GMT\n": 0,
  "retry-after: 5s\nretry-after: 6 November\n": 5000,
  "retry-after: 5s\nretry-after: 2030-01-01T00:00:00Z\n": 5000,
  "retry-after: Fri, 31 Dec 9999 23:59:59 GMT\n": 2 ** 31 * 1000,
  "the server said retry-after: 30\n": 0,
  "< Retry-After: 30\n": 0,
  "retry-after: 99999999999999999999\n": 2 ** 31 * 1000,
  "retry-after: 9999999999h\n": 2 ** 31 * 1000,
};

for (const [output, delay] of Object.entries(DELAYS)) {
  Deno.test(`retry-after line: ${JSON.stringify(output)} asks for ${delay} ms`, () => {
    using _time = new FakeTime(new Date("1994-11-06T08:49:37Z"));
    assertEquals(delayAfter(output), delay);
    assertEquals(delayAfter(...output), delay, "byte by byte");
  });
}

Deno.test("retry-after line: it is found however much output follows", () => {
  assertEquals(
    delayAfter("retry-after: 5s\n", ...Array.from({ length: 100 }, () => "at some place\n".repeat(100))),
    5000,
  );
});

Deno.test("retry-after line: the end of a long line does not count as a line", () => {
  assertEquals(delayAfter("x".repeat(5000), "\rretry-after: 5s\n"), 0);
  assertEquals(delayAfter(" ".repeat(1000), "retry-after: 5s"), 0);
});
