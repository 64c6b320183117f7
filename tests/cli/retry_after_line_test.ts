import { assertEquals } from "@std/assert";
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
  "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\n": 0,
  "the server said retry-after: 30\n": 0,
  "< Retry-After: 30\n": 0,
  "retry-after: 99999999999999999999\n": 2 ** 31 * 1000,
  "retry-after: 9999999999h\n": 2 ** 31 * 1000,
};

for (const [output, delay] of Object.entries(DELAYS)) {
  Deno.test(`retry-after line: ${JSON.stringify(output)} asks for ${delay} ms`, () => {
    assertEquals(delayAfter(output), delay);
    assertEquals(delayAfter(...output), delay, "byte by byte");
  });
}

Deno.test("retry-after line: however much comes after it, it is found", () => {
  assertEquals(
    delayAfter("retry-after: 5s\n", ...Array.from({ length: 100 }, () => "at some place\n".repeat(100))),
    5000,
  );
});

Deno.test("retry-after line: the end of a long line is no line", () => {
  assertEquals(delayAfter("x".repeat(5000), "\rretry-after: 5s\n"), 0);
  assertEquals(delayAfter(" ".repeat(1000), "retry-after: 5s"), 0);
});
