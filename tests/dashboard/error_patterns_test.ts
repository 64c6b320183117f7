/** Tests of error messages without their variable parts. */

import { assertEquals } from "@std/assert";
import { patternOf } from "../../packages/dashboard/watch/error_patterns.ts";

const patterns: [message: string, pattern: string, key?: string][] = [
  ["Error: no such customer", "Error: no such customer"],
  ["TimeoutError: The handler did not end within 50 ms", "TimeoutError: The handler did not end within * ms"],
  ["Error: order 17 took 1,234.5 s, then 1e9 s", "Error: order * took * s, then * s"],
  ["Error: order17 is at v2.3.4", "Error: order* is at v*"],
  ["Error: user 3fa85f64-5717-4562-B3FC-2c963f66afa6 is gone", "Error: user * is gone"],
  ["Error: commit deadbeef01 at 0xff", "Error: commit * at *"],
  ["Error: a facade decade", "Error: a facade decade"],
  ["Error: token ck9x8y7abc12345678 expired", "Error: token * expired"],
  ["Error: connect ECONNREFUSED 10.3.0.1:443", "Error: connect ECONNREFUSED *"],
  ["Error: connect ECONNREFUSED ::1:5432", "Error: connect ECONNREFUSED *"],
  ["Error: connect [fe80::1]:80", "Error: connect *"],
  ["Error: std::bad_alloc in a::b", "Error: std::bad_alloc in a::b"],
  ["Error: expired at 2026-11-24T19:00:00.123Z", "Error: expired at *"],
  ["Error: expired on 2026-11-24 at 19:00:01", "Error: expired on * at *"],
  [`Error: no field "name" in 'row', \`x\` or “y”`, "Error: no field * in *, * or *"],
  ["Error: it can't be, isn't it", "Error: it can't be, isn't it"],
  ["Error: GET https://api.example/orders/17?to=alice failed", "Error: GET https://api.example/orders/* failed"],
  ["Error: HTTP 503", "Error: HTTP 503"],
  ["Error: status code 404 for order 12", "Error: status code 404 for order *"],
  ["Error: 503 the gateway is down", "Error: 503 the gateway is down"],
  ["TypeError: 404", "TypeError: 404"],
  ["429", "429"],
  ["Error: 5031 of 503 are down", "Error: * of * are down"],
  ["exit code 7", "exit code 7"],
  ["Error: exited with code 28 after 30 s", "Error: exited with code 28 after * s"],
  ["exit code 22: curl: (22) the server said: 404", "exit code 22: curl: (22) the server said: *"],
  ["Error: alice is unknown", "Error: * is unknown", "alice"],
  ["Error: no alice, malice or (alice)", "Error: no *, malice or (*)", "alice"],
  ["Error: not a number", "Error: not a number", "a"],
  ["Error: a+b(c is unknown", "Error: * is unknown", "a+b(c"],
];

for (const [message, pattern, key = ""] of patterns) {
  Deno.test(`error patterns: ${message}${key && `, of ${key}`}`, () => {
    assertEquals(patternOf(message, key), pattern);
    assertEquals(patternOf(pattern, key), pattern, "a pattern is its own pattern");
  });
}

Deno.test("error patterns: a message made to be slow is not slow", () => {
  for (const part of ["[", "0:", "a://", "?", "a_1", "1-", "'", "f", "http://a?"]) {
    patternOf(part.repeat(500), "key"); // with a pattern that backtracks, the test would not end
  }
});
