/**
 * Bounds on the sizes of bundles. A bound may fall in any commit. It rises only in a commit of its own, whose body says
 * what the user gets for it.
 */

import { assert, assertEquals } from "@std/assert";
import { CONTROLLER, programOf, sizeOf } from "../../docs/generate/sizes.ts";
import { bundledFiles } from "../bundle.ts";

/** Returns the folders other than `lib/` that contribute code to a program. */
async function roomsIn(...names: string[]): Promise<string[]> {
  const rooms = (await bundledFiles(programOf(...names))).map((path) => path.split("/")[0]!);
  return [...new Set(rooms)].filter((room) => room !== "lib").sort();
}

// Strict options, their messages and hints such as "did you mean" take 1.2 kB, maps that don't block the event loop
// 0.4, `for await` 0.3, and snapshots, fake timers and waits 0.2 each. Without all of these, 5.0 kB are left: the
// records and their transitions.
Deno.test("a bundle holds only what it uses: createWorkQueue alone takes at most 7.5 kB", async () => {
  const size = await sizeOf("createWorkQueue");
  assert(size > 1000 && size <= 7_460, `${size} bytes`);
});

/** Largest number of gzipped bytes of a controller with each limiter. */
const LIMITERS: Readonly<Record<string, number>> = {
  createDefaultItemLimiter: 23_590,
  createDefaultControllerLimiter: 24_450,
  createExponentialLimiter: 25_050,
  createFastSlowLimiter: 25_090,
  createIgnoreEarlyLimiter: 25_110,
  createJitterLimiter: 24_440,
  createMaxOfLimiter: 24_230,
  createMaxWaitLimiter: 24_350,
  createPerGroupLimiter: 25_390,
  createStepsLimiter: 25_170,
  createBucketLimiter: 27_730,
};

// Of the default controller, checks of options and their texts take 2.8 kB, the limiter 1.1, reports of errors 0.9,
// pauses of groups 0.8, snapshots and the expiry of failures 0.7 each, maps that don't block the event loop, timeouts
// and addAndWait 0.5 each, returned outcomes 0.4, bursts 0.3, and five more features 0.7. Without all of these, 14.6 kB
// are left.
Deno.test("a bundle holds only what it uses: a controller takes at most 24.4 kB with the default limiter", async () => {
  for (const [limiter, most] of Object.entries(LIMITERS)) {
    const size = await sizeOf(...CONTROLLER, limiter);
    assert(size <= most, `${limiter}: ${size} bytes`);
  }
});

Deno.test("a bundle holds no discipline, registry or config that it does not use", async () => {
  const queue = ["createWorkQueue", "createDelayingQueue", "createRateLimitingQueue", "runWorkers"];
  assertEquals(await roomsIn(...queue), []);
  assertEquals(await roomsIn(...queue, "createDefaultControllerLimiter"), ["limiters"]);
  assertEquals(await roomsIn(...queue, "createFairDiscipline"), ["disciplines", "registry"]);
});

Deno.test("a bundle of loadConfigWith holds only the types that it names", async () => {
  const files = await bundledFiles(programOf("loadConfigWith", "limiterRegistry", "exponential", "bucket"));
  const ofTypes = files.filter((file) => /^(limiters|disciplines|throttles)\//.test(file)).sort();
  assertEquals(ofTypes.filter((file) => /fast_slow|ignore|jitter|max_|per_group|steps|built_ins/.test(file)), []);
  assertEquals(ofTypes.filter((file) => !file.startsWith("limiters/")).sort(), [
    "disciplines/definition.ts",
    "throttles/definition.ts",
  ]);
});

Deno.test("a bundle holds only what it uses: a config takes at most 56.7 kB, and with two limiters 44.0", async () => {
  const [all, some] = [
    await sizeOf("loadConfig"),
    await sizeOf("loadConfigWith", "limiterRegistry", "exponential", "bucket"),
  ];
  assert(all <= 56_660, `${all} bytes`);
  assert(some <= 43_960, `${some} bytes`);
});

Deno.test("a bundle holds no code for displaying a queue, and no code that measures", async () => {
  const files = await bundledFiles(programOf("createRateLimitingQueue", "createGivenUpStore", "runWorkers"));
  assertEquals(files.filter((file) => file.startsWith("lib/inspection/")), []);
  const ofPools = ["lib/metrics/failure_watch.ts", "lib/metrics/totals.ts"];
  assertEquals(files.filter((file) => file.startsWith("lib/metrics/")).sort(), ofPools);
});

Deno.test("a bundle without a throttle holds neither gates nor lines", async () => {
  const ofThrottles = (files: string[]) => files.filter((path) => path.startsWith("lib/tokens/throttle_"));
  assertEquals(ofThrottles(await bundledFiles(programOf(...CONTROLLER, "createDefaultControllerLimiter"))), []);
  const gated = ["lib/tokens/throttle_gate.ts", "lib/tokens/throttle_line.ts"];
  assertEquals(ofThrottles(await bundledFiles(programOf(...CONTROLLER, "createConcurrencyThrottle"))).sort(), gated);
});
