/** Tests of error codes. Every kind of error that users catch has a code and keeps its class and message. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  ConfigError,
  createDelayingQueue,
  createFairDiscipline,
  createJitterLimiter,
  createPerGroupLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  defineLimiter,
  type ErrorCode,
  limiters,
  loadConfig,
  parallelizeUntil,
  parseDuration,
  type RateLimiter,
  runWorkers,
  TokenBucket,
} from "@workqueue/core";
import { requireVersion } from "@workqueue/core/internal";
import { codeOf } from "../helpers.ts";

type Throwing = readonly [name: string, code: ErrorCode, ErrorClass: ErrorConstructor, action: () => unknown];

const limiterThat = (when: () => number): RateLimiter<string> => ({ when, forget() {}, numRequeues: () => 0 });
const queueWith = (limiter: RateLimiter<string>) => createRateLimitingQueue<string>(limiter);
const config = loadConfig({ queues: { images: {} } });

const CASES: Throwing[] = [
  ["an unknown option", "WQ_ARGUMENT", TypeError, () => createWorkQueue({ nmae: "q" } as never)],
  ["options that are no object", "WQ_ARGUMENT", TypeError, () => createWorkQueue(5 as never)],
  ["an option of the wrong type", "WQ_ARGUMENT", TypeError, () => createWorkQueue({ name: {} as never })],
  ["an option out of bounds", "WQ_ARGUMENT", RangeError, () => createDelayingQueue({ maxSleep: 0 })],
  [
    "a combination of options",
    "WQ_ARGUMENT",
    TypeError,
    () => createFairDiscipline({ groupOf: () => "a", separator: "/" } as never),
  ],
  ["no limiter", "WQ_ARGUMENT", TypeError, () => createRateLimitingQueue({} as never)],
  ["no queue", "WQ_ARGUMENT", TypeError, () => runWorkers({} as never, () => {})],
  ["no handler", "WQ_ARGUMENT", TypeError, () => runWorkers(queueWith(limiterThat(() => 0)), {} as never)],
  ["a duration", "WQ_ARGUMENT", TypeError, () => parseDuration("1 s")],
  ["a rate", "WQ_ARGUMENT", RangeError, () => new TokenBucket(-1, 1)],
  ["a missing option", "WQ_ARGUMENT", TypeError, () => createPerGroupLimiter({} as never)],
  [
    "a group of a key that is no string",
    "WQ_ARGUMENT",
    TypeError,
    () => createWorkQueue<unknown>({ discipline: createFairDiscipline({ separator: "/" }) }).add(5),
  ],
  ["a definition", "WQ_ARGUMENT", TypeError, () => defineLimiter({} as never)],
  [
    "a type that is registered already",
    "WQ_ARGUMENT",
    TypeError,
    () => limiters.extend().register(limiters.get("jitter")!),
  ],
  ["a queue that the config does not have", "WQ_ARGUMENT", RangeError, () => config.queue("imges")],
  ["a document", "WQ_CONFIG", ConfigError as unknown as ErrorConstructor, () => loadConfig("{")],
  [
    "a limiter of a document",
    "WQ_CONFIG",
    ConfigError as unknown as ErrorConstructor,
    () => limiters.build({ type: "jitter" } as never),
  ],
  ["a reload inside a reload", "WQ_CONFIG", Error, () => {
    const end = config.onReload(() => void config.reload({}));
    try {
      config.reload({ queues: { images: { concurrency: 2 } } });
    } finally {
      end();
    }
  }],
  ["a delay that is no number", "WQ_LIMITER", RangeError, () => queueWith(limiterThat(() => NaN)).addRateLimited("a")],
  [
    "random numbers of jitter",
    "WQ_LIMITER",
    RangeError,
    () => createJitterLimiter(limiterThat(() => 1), { spread: 0.5, random: () => 2 }).when("a"),
  ],
  [
    "a group's limiter",
    "WQ_LIMITER",
    TypeError,
    () => createPerGroupLimiter({ groupOf: String, limiter: () => ({}) as never }).when("a"),
  ],
  ["a core of another version", "WQ_VERSION", Error, () => requireVersion("@workqueue/redis", "0.0.1")],
];

for (const [name, code, ErrorClass, action] of CASES) {
  Deno.test(`errors: ${name}: ${code}`, () => {
    const error = assertThrows(action, ErrorClass);
    assertEquals(codeOf(error), code);
    assertEquals(Object.getPrototypeOf(error), ErrorClass.prototype);
    assert(Object.keys(error).includes("code"), "consoles and loggers show it");
  });
}

Deno.test("errors: errors of arguments of asynchronous calls have a code as well", async () => {
  const code = await parallelizeUntil(0, 1, () => {}).then(() => undefined, codeOf);
  assertEquals(code, "WQ_ARGUMENT" satisfies ErrorCode);
});

Deno.test("errors: an error of a custom limiter is passed on unchanged", () => {
  const error = new Error("the limiter is away");
  const queue = queueWith(limiterThat(() => {
    throw error;
  }));
  assert(Object.is(assertThrows(() => queue.addRateLimited("a")), error));
  assertEquals(Object.keys(error), []);
});

Deno.test("errors: a ConfigError has a code that the compiler knows", () => {
  const code: "WQ_CONFIG" = new ConfigError("load config", [{ path: "", message: "it is empty" }]).code;
  assertEquals(code satisfies ErrorCode, "WQ_CONFIG");
});
