/**
 * Tests of options that may be omitted, under `exactOptionalPropertyTypes`. Each option also accepts `undefined`, as in
 * `{ timeout: settings.timeout }`. The compiler checks the types. The tests run only on Deno, which lists the types.
 */

import { assert, assertEquals } from "@std/assert";
import {
  type AddAndWaitOptions,
  type AddOptions,
  type BatchOptions,
  type BuildContext,
  type BuiltInDisciplineOptions,
  type BuiltInOptions,
  type BuiltInThrottleOptions,
  createBucketLimiter,
  createDefaultControllerLimiter,
  type createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  type defineDiscipline,
  type defineLimiter,
  type DelayingQueueOptions,
  type DrainOptions,
  type FairOptions,
  type GivenUpOptions,
  type GivenUpSelection,
  loadConfig,
  type LoadConfigOptions,
  type OptionsInput,
  type ParallelizeOptions,
  parallelizeUntil,
  type RateLimitedAddOptions,
  type RateLimitingQueueOptions,
  type RedriveOptions,
  type ReloadOptions,
  runWorkers,
  type SnapshotOptions,
  TokenBucket,
  type WorkerOptions,
  type WorkQueue,
  type WorkQueueOptions,
} from "@workqueue/core";
import type { ConfigSchemaOptions } from "@workqueue/core/config";
import { manifest, ROOT, run } from "./project.ts";

/** Names of optional members that don't accept `undefined`. */
type Refusing<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? { [P in K]: undefined } extends Pick<T, K> ? never : K
    : never;
}[keyof T];

/** Compiles only if all options accept `undefined`. Otherwise, the error lists the options that don't. */
function takesUndefined<T>(_refused: Record<Refusing<NonNullable<T>>, "must take undefined">): void {}

/** Options of built-in limiters, disciplines and throttles that don't accept `undefined`. */
type OfBuiltIns =
  | { [K in keyof BuiltInOptions]: Refusing<BuiltInOptions[K]> }[keyof BuiltInOptions]
  | { [K in keyof BuiltInDisciplineOptions]: Refusing<BuiltInDisciplineOptions[K]> }[keyof BuiltInDisciplineOptions]
  | { [K in keyof BuiltInThrottleOptions]: Refusing<BuiltInThrottleOptions[K]> }[keyof BuiltInThrottleOptions];

/** Options that may be omitted, declared as in a definition. */
type Optional = {
  readonly size: { readonly kind: "integer"; readonly required: false; readonly description: string };
  readonly delay: { readonly kind: "duration"; readonly default: "1s"; readonly description: string };
};

/**
 * Types named `…Options` whose values users don't pass: types of the runtime, and types of the arguments of a
 * definition's `create` function. And types without optional members.
 */
const NO_OPTIONS_OF_OURS = [
  "ErrorOptions",
  "LimiterOptions",
  "DisciplineOptions",
  "ThrottleOptions",
  "DeclaredOptions",
  "RetryBudgetOptions",
];

Deno.test("options: every optional option may be undefined", async () => {
  takesUndefined<WorkQueueOptions<string>>({});
  takesUndefined<DelayingQueueOptions<string>>({});
  takesUndefined<RateLimitingQueueOptions<string>>({});
  takesUndefined<Parameters<WorkQueue<string>["get"]>[0]>({});
  takesUndefined<DrainOptions>({});
  takesUndefined<AddOptions>({});
  takesUndefined<AddAndWaitOptions>({});
  takesUndefined<RateLimitedAddOptions>({});
  takesUndefined<GivenUpOptions>({});
  takesUndefined<GivenUpSelection>({});
  takesUndefined<RedriveOptions>({});
  takesUndefined<SnapshotOptions>({});
  takesUndefined<WorkerOptions<string>>({});
  takesUndefined<BatchOptions<string>>({});
  takesUndefined<ParallelizeOptions>({});
  takesUndefined<LoadConfigOptions>({});
  takesUndefined<ReloadOptions>({});
  takesUndefined<ConfigSchemaOptions>({});
  takesUndefined<BuildContext>({});
  takesUndefined<Parameters<typeof defineLimiter>[0]>({});
  takesUndefined<OptionsInput<Optional>>({});
  takesUndefined<{ [K in OfBuiltIns]?: unknown }>({});
  takesUndefined<Parameters<typeof defineDiscipline>[0]>({});
  takesUndefined<Parameters<typeof createBucketLimiter>[0]>({});
  takesUndefined<Parameters<typeof createExponentialLimiter>[0]>({});
  takesUndefined<Parameters<typeof createPriorityDiscipline>[0]>({});
  takesUndefined<FairOptions<string>>({});
  takesUndefined<Parameters<typeof createDefaultControllerLimiter>[0]>({});
  takesUndefined<ConstructorParameters<typeof TokenBucket>[2]>({});
  takesUndefined<Parameters<TokenBucket["wait"]>[1]>({});

  // Checks that no options type of the package is missing above.
  const source = await Deno.readTextFile(new URL(import.meta.url));
  const { stdout } = await run(Deno.execPath(), ["doc", ...Object.values(manifest.exports)], ROOT);
  const names = [...new Set(stdout.match(/\b[A-Z]\w*Options\b/g))]
    .filter((name) => !NO_OPTIONS_OF_OURS.includes(name));
  assert(names.length > 5);
  assertEquals(names.filter((name) => !source.includes(name)), []);
});

Deno.test("options: an undefined option is the same as an omitted option", async () => {
  const clock = undefined;
  const queue = createRateLimitingQueue<string>(createDefaultControllerLimiter({ clock }), {
    name: undefined,
    keyOf: undefined,
    clock,
    metrics: undefined,
    maxSleep: undefined,
    ref: undefined,
    addWhileDelayed: undefined,
    discipline: undefined,
    priorityLevels: undefined,
  });
  const done: string[] = [];
  const pool = runWorkers(queue, (item) => void done.push(item), {
    concurrency: undefined,
    maxRetries: undefined,
    timeout: undefined,
    signal: undefined,
    throttle: undefined,
    onError: undefined,
    onGiveUp: undefined,
  });
  queue.add("a", { priority: undefined });
  queue.addRateLimited("b", { priority: undefined, minDelay: undefined });
  assertEquals(queue.cancelDelayed("b"), true);
  assertEquals(queue.snapshot({ limit: undefined }).ready, 1);
  assertEquals(createPriorityDiscipline({ min: undefined, max: undefined, maxHeadStart: undefined }).length, 0);
  await queue.shutDownWithDrain({ delayed: undefined });
  await pool.finished;
  await parallelizeUntil(1, 2, (piece) => void done.push(`${piece}`), { signal: undefined, chunkSize: undefined });
  assertEquals(done, ["a", "0", "1"]);

  assertEquals(createBucketLimiter({ rate: 1, burst: 1, clock }).when("a"), 0);
  await new TokenBucket(1, 1, { clock }).wait(1, { signal: undefined });
  assertEquals(loadConfig({}, { clock, metrics: undefined }).queueNames, []);
});
