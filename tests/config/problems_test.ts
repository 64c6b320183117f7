/** Tests of the problems in a document. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigError, loadConfig } from "@workqueue/core";
import { issuesOf, pathsOf } from "../helpers.ts";
import { countingRegistry, EXPONENTIAL, TYPES } from "./documents.ts";

Deno.test("rule 10: every problem of the document is reported, with a pointer to each, and nothing is built", () => {
  const { created, registry } = countingRegistry();
  const document = {
    $schema: 5,
    limiter: {},
    limiters: {
      good: { type: "count" },
      "a/b": { type: "bucket", rate: "fast", brust: 3 },
      lost: "god",
      loop: { type: "max-of", limiters: ["good", "loop"] },
      backwards: { type: "exponential", baseDelay: "1s", maxDelay: "1ms" },
      none: { type: "max-of", limiters: [] },
    },
    queues: {
      q: { limiter: "goood", concurrency: 0, maxRetries: -1, timeout: "0s", maxSleep: 0, maxretries: 3 },
      r: { limiter: 5 },
      s: null,
    },
  };
  const issues = issuesOf(() => loadConfig(document, { limiters: registry }));
  const duration = `must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms`;
  const expected = [
    { path: "/limiter", message: `"limiter" is not a part of a config; did you mean "limiters"?` },
    { path: "/limiters/a~1b/brust", message: `"brust" is not an option here; did you mean "burst"?` },
    { path: "/limiters/a~1b/rate", message: `'rate' must be a non-negative number, got "fast"` },
    { path: "/limiters/a~1b/burst", message: "missing required option 'burst' (maximum number of retries at once)" },
    { path: "/limiters/lost", message: `"god" is not the name of a limiter here; did you mean "good"?` },
    {
      path: "/limiters/backwards/maxDelay",
      message: `'maxDelay' must not be less than 'baseDelay' (1000 ms), got "1ms"`,
    },
    {
      path: "/limiters/none/limiters",
      message: "'limiters' must be a list of 1 to 1000 limiters, got an array",
    },
    { path: "/queues/q/maxretries", message: `"maxretries" is not an option here; did you mean "maxRetries"?` },
    { path: "/queues/q/limiter", message: `"goood" is not the name of a limiter here; did you mean "good"?` },
    { path: "/queues/q/maxSleep", message: `'maxSleep' ${duration}, got 0` },
    { path: "/queues/q/concurrency", message: "'concurrency' must be a positive integer, got 0" },
    { path: "/queues/q/maxRetries", message: "'maxRetries' must be a non-negative integer, got -1" },
    { path: "/queues/q/timeout", message: `'timeout' ${duration}, got "0s"` },
    { path: "/queues/r/limiter", message: "'limiter' must be a limiter or the name of one, got 5" },
    { path: "/queues/s", message: "'s' must be an object, got null" },
    {
      path: "/limiters/loop/limiters/1",
      message: `limiters must not refer to each other in a circle: "loop" → "loop"`,
    },
  ];
  const sorted = (list: { path: string }[]) => list.toSorted((a, b) => a.path < b.path ? -1 : 1);
  assertEquals(sorted(issues.filter(({ path }) => path !== "/$schema")), sorted(expected));
  assertEquals(created, []);
});

Deno.test("rule 10: a valid part of an invalid document is not built: any single problem prevents it", () => {
  const good = { limiters: { a: { type: "count" } }, queues: { q: { limiter: { type: "count" } } } };
  const bad: [document: object, path: string][] = [
    [{ ...good, extra: {} }, "/extra"],
    [{ ...good, limiters: { ...good.limiters, b: {} } }, "/limiters/b/type"],
    [{ ...good, limiters: { ...good.limiters, b: "c" } }, "/limiters/b"],
    [{ ...good, limiters: { ...good.limiters, b: "b" } }, "/limiters/b"],
    [{ ...good, queues: { ...good.queues, r: 5 } }, "/queues/r"],
    [{ ...good, queues: { ...good.queues, r: { timeout: -1 } } }, "/queues/r/timeout"],
    [{ ...good, queues: { ...good.queues, r: { limiter: "x" } } }, "/queues/r/limiter"],
    [{ ...good, queues: { ...good.queues, "": {} } }, "/queues/"],
    [{ ...good, queues: [] }, "/queues"],
  ];
  for (const [document, path] of bad) {
    const { created, registry } = countingRegistry();
    assertEquals(pathsOf(() => loadConfig(document, { limiters: registry })), [path]);
    assertEquals(created, []);
  }
  const { created, registry } = countingRegistry();
  loadConfig(good, { limiters: registry });
  assertEquals(created.length, 2);
});

Deno.test("each of very many problems is reported, and suggestions are computed only for problems that the message shows", () => {
  const queues = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`q${i}`, { limiter: "gentel" }]));
  const issues = issuesOf(() => loadConfig({ limiters: { gentle: EXPONENTIAL }, queues }));
  const message = `"gentel" is not the name of a limiter here`;
  assertEquals(issues.map(({ message }) => message), [
    ...Array(20).fill(`${message}; did you mean "gentle"?`),
    ...Array(10).fill(message),
  ]);
  assertEquals(issues.at(-1)!.path, "/queues/q29/limiter");
});

Deno.test("a queue's options have bounds", () => {
  const document = (options: object) => ({ queues: { q: options } });
  const good: object[] = [
    { maxSleep: 1 },
    { maxSleep: 2 ** 31 - 1 },
    { maxSleep: "10s" },
    { timeout: 1 },
    { timeout: 2 ** 31 - 1 },
    { timeout: "576h" },
    { concurrency: 1 },
    { concurrency: 1e6 },
    { maxRetries: 0 },
    { maxRetries: 1e6 },
  ];
  for (const options of good) loadConfig(document(options));
  const bad: object[] = [
    ...[0, 0.5, -1, NaN, Infinity, 2 ** 31, "0s", "-1s", "1d", null, true].flatMap((
      value,
    ) => [{ maxSleep: value }, { timeout: value }]),
    ...[0, 1.5, -1, NaN, Infinity, "4", null].map((concurrency) => ({ concurrency })),
    ...[1.5, -1, NaN, Infinity, "4", null].map((maxRetries) => ({ maxRetries })),
  ];
  for (const options of bad) {
    assertEquals(pathsOf(() => loadConfig(document(options))), [`/queues/q/${Object.keys(options)[0]}`]);
  }
});

Deno.test("messages show values as they were received: strings of up to 60 characters, and the sign of zero", () => {
  const message = (options: object) => issuesOf(() => loadConfig({ queues: { q: options } }))[0]!.message;
  const sixty = "x".repeat(60);
  assert(message({ concurrency: sixty }).endsWith(`got "${sixty}"`));
  assert(message({ concurrency: sixty + "y" }).endsWith(`got "${sixty}…"`));
  assert(message({ concurrency: 'a"\n' }).endsWith(String.raw`got "a\"\n"`));
  assert(message({ concurrency: -0 }).endsWith("got -0"));
  assert(message({ concurrency: 0 }).endsWith("got 0"));
});

Deno.test("rule 10: huge strings are cut in messages", () => {
  const huge = "x".repeat(1_000_000);
  const documents: object[] = [
    { [huge]: 5 },
    { limiters: { [huge]: 5 } },
    { limiters: { a: huge } },
    { limiters: { a: { type: huge } } },
    { limiters: { a: { type: "bucket", rate: huge, burst: 1 } } },
    { limiters: { a: { type: "bucket", rate: 1, burst: 1, [huge]: 1 } } },
    { limiters: { a: { type: "exponential", baseDelay: huge, maxDelay: 1 } } },
    { limiters: { [huge]: huge } },
    { limiters: { [huge]: { type: "max-of", limiters: [huge] } } },
    { queues: { [huge]: { concurrency: 0, limiter: huge } } },
  ];
  for (const document of documents) {
    const { message, issues } = assertThrows(() => loadConfig(document), ConfigError);
    assert(message.length < 2000, `${message.length} characters: ${message.slice(0, 100)}`);
    for (const issue of issues) assert(issue.message.length < 1000, issue.message.slice(0, 100));
  }
});

Deno.test("$schema is a string, as the JSON Schema says", () => {
  assertEquals(pathsOf(() => loadConfig({ $schema: 5 })), ["/$schema"]);
});

Deno.test("an unknown type is reported with all known types", () => {
  assertEquals(issuesOf(() => loadConfig({ limiters: { a: { type: "buket" } } })), [
    { path: "/limiters/a/type", message: `'type' must be one of ${TYPES}, got "buket"; did you mean "bucket"?` },
  ]);
});
