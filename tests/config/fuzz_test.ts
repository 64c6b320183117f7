/**
 * Fuzz test of config documents. Most documents are valid documents with random errors. Each document must be loaded or
 * refused.
 *
 * `WORKQUEUE_RUNS=1000000` tests more documents. A failure prints the seed of the run, the number of the document, and
 * the document. `WORKQUEUE_SEED` repeats the run with the given seed.
 */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import {
  ConfigError,
  limiters,
  loadConfig,
  parseDuration,
  type RateLimiter,
  type WorkQueueConfig,
} from "@workqueue/core";
import { DocumentMaker, isContainer } from "./document_maker.ts";
import { HandClock } from "../helpers.ts";

/**
 * Number of documents. Bugs planted in how a problem's path is escaped were found within 12 documents, and a missing
 * limit on the nesting depth, the rarest, after 1,100 on average.
 */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 5000);
const SEED = Number(process.env["WORKQUEUE_SEED"] ?? Date.now() % 2 ** 31);

/** Time limit per document in milliseconds. No document takes nearly this long, so only a hang exceeds the limit. */
const DEADLINE = 10_000;

const clock = new HandClock();

/** Loads a document. If loading succeeds, uses every part of the config; otherwise, checks all issues in the error. */
function check(source: string | object): "loaded" | "refused" {
  let config: WorkQueueConfig;
  try {
    config = loadConfig(source, { clock });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    checkIssues(error, source);
    return "refused";
  }
  for (const name of config.limiterNames) use(config.limiter<string>(name));
  for (const name of config.queueNames) {
    const { concurrency = 1, maxRetries = 0, timeout = 1 } = config.workers(name);
    assert(concurrency >= 1 && maxRetries >= 0 && parseDuration(timeout) >= 1);
    const queue = config.queue<string>(name);
    assertEquals(queue.name, name);
    queue.addRateLimited("a");
    assertEquals(queue.length + queue.snapshot().blocked + queue.delayed, 1);
    queue.shutDown();
  }
  return "loaded";
}

function use(limiter: RateLimiter<string>): void {
  for (let i = 0; i < 2; i++) {
    const delay = limiter.when("a");
    assert(Number.isFinite(delay) && delay >= 0, `a delay of ${delay}`);
  }
  assert(limiter.numRequeues("a") >= 0);
  limiter.forget("a");
  assertEquals(limiter.numRequeues("a"), 0);
}

function checkIssues({ issues, message }: ConfigError, source: string | object): void {
  assert(issues.length > 0, "no issues");
  assert(message.length < 10_000, "a message as long as the document");
  for (const { message } of issues) {
    assert(message.length > 0 && message.length < 1000, `a message of ${message.length} characters`);
  }
  const paths = issues.map(({ path }) => path).filter((path) => path !== "");
  if (paths.length === 0) return;
  const document = typeof source === "string" ? tryParse(source) : source;
  for (const path of paths) checkPointer(path, document);
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // an issue with text that is not JSON refers to the whole text
  }
}

/** Checks that every step of a pointer, except possibly the last, exists in the document. */
function checkPointer(path: string, document: unknown): void {
  assert(path.startsWith("/"), `no pointer: ${path.slice(0, 100)}`);
  let value = document;
  for (const step of path.slice(1).split("/")) {
    assert(isContainer(value), `nothing there: ${path.slice(0, 100)}`);
    assert(!/~(?![01])/.test(step), `no pointer: ${path.slice(0, 100)}`);
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    value = Object.hasOwn(value, key) ? value[key as never] : undefined;
  }
}

/** Returns the global state, which documents must not change. */
function globals(): unknown[] {
  const properties = [Object, Array, Function, String, Number, Map, Promise, Error].flatMap((type) =>
    Reflect.ownKeys(type.prototype).map((key) => [key, Reflect.getOwnPropertyDescriptor(type.prototype, key)])
  );
  return [...properties, ...Reflect.ownKeys(globalThis), ...limiters.types()];
}

/** Returns a number that reflects the global state and is quick enough to compute after every document. */
const glance = () =>
  Reflect.ownKeys(Object.prototype).length + Reflect.ownKeys(Array.prototype).length + limiters.types().length;

Deno.test("rule 10: thousands of hostile documents load or are refused, in time, and change nothing else", () => {
  const before = globals();
  const expected = glance();
  const counts = { loaded: 0, refused: 0 };
  fc.assert(
    fc.property(fc.noShrink(fc.integer()), (seed) => {
      const source = new DocumentMaker(seed).source();
      const begin = performance.now();
      try {
        counts[check(source)]++;
        assertEquals(glance(), expected, "something global was changed");
        assert(performance.now() - begin < DEADLINE, "it took too long");
      } catch (error) {
        throw new Error(`${error}\nDocument ${seed}: ${print(source)}`, { cause: error });
      }
    }),
    { numRuns: RUNS, seed: SEED },
  );
  assertEquals(globals(), before);
  // Fails unless the documents vary enough.
  assert(Math.min(counts.loaded, counts.refused) > RUNS / 20, JSON.stringify(counts));
});

Deno.test("the fuzzed documents load without their mutations", () => {
  for (let seed = 0; seed < 300; seed++) {
    const document = new DocumentMaker(seed).document();
    assertEquals(check(document), "loaded");
    assertEquals(check(JSON.stringify(document)), "loaded");
  }
});

function print(source: string | object): string {
  if (typeof source === "string") return source.slice(0, 5000);
  try {
    return JSON.stringify(source, (_, value) => typeof value === "bigint" ? `${value}n` : value).slice(0, 5000);
  } catch (error) {
    return `cannot be printed: ${error}`;
  }
}
