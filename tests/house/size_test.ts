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

// Strict options, their messages and hints such as "did you mean" take 1.3 kB, fake timers 0.4, maps that don't block
// the event loop, snapshots, waits (`whenIdle`, `whenBelow`), and pauses with their timer 0.3 each, and `for await` and
// looks at time that make items ready 0.2 each. The rest is the records, their order and their transitions.
Deno.test("a bundle holds only what it uses: createWorkQueue alone takes at most 8.8 kB", async () => {
  const size = await sizeOf("createWorkQueue");
  assert(size > 1000 && size <= 8_800, `${size} bytes`);
});

/** Largest number of gzipped bytes of a controller with each limiter. */
const LIMITERS: Readonly<Record<string, number>> = {
  createDefaultItemLimiter: 24_530,
  createDefaultControllerLimiter: 25_380,
  createExponentialLimiter: 26_020,
  createFastSlowLimiter: 26_060,
  createIgnoreEarlyLimiter: 26_080,
  createJitterLimiter: 25_400,
  createMaxOfLimiter: 25_200,
  createMaxWaitLimiter: 25_310,
  createPerGroupLimiter: 26_360,
  createStepsLimiter: 26_130,
  createBucketLimiter: 28_670,
};

Deno.test("a bundle holds only what it uses: a controller takes at most 25.4 kB with the default limiter", async () => {
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

Deno.test("a bundle holds no view of a queue for displays, and none of the code that measures", async () => {
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
