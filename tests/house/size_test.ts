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

// Strict options and their messages take 1.1 kB, metrics 1.0, maps that don't block the event loop, snapshots, and
// pauses with their timer 0.5 each, fake timers 0.4, and `for await`, hints such as "did you mean", and looks at time
// that make items ready 0.2 each. The rest is the records, their order and their transitions.
Deno.test("a bundle holds only what it uses: createWorkQueue alone takes at most 10.5 kB", async () => {
  const size = await sizeOf("createWorkQueue");
  assert(size > 1000 && size <= 10_500, `${size} bytes`);
});

/** Largest number of gzipped bytes by which each limiter may enlarge a controller. */
const LIMITERS: Readonly<Record<string, number>> = {
  createDefaultItemLimiter: 255,
  createDefaultControllerLimiter: 1240,
  createExponentialLimiter: 1840,
  createFastSlowLimiter: 1890,
  createIgnoreEarlyLimiter: 1525,
  createJitterLimiter: 1165,
  createMaxOfLimiter: 1020,
  createMaxWaitLimiter: 1075,
  createPerGroupLimiter: 1750,
  createStepsLimiter: 1970,
  createBucketLimiter: 3280,
};

Deno.test("a bundle holds only what it uses: a controller with the default limiter takes at most 28.0 kB", async () => {
  const size = await sizeOf(...CONTROLLER, "createDefaultControllerLimiter");
  assert(size <= 28_000, `${size} bytes`);
});

Deno.test("a bundle holds only what it uses: a limiter adds little to a controller", async () => {
  const without = await sizeOf(...CONTROLLER);
  for (const [limiter, most] of Object.entries(LIMITERS)) {
    const more = await sizeOf(...CONTROLLER, limiter) - without;
    assert(more <= most, `${limiter}: ${more} bytes`);
  }
});

Deno.test("a bundle holds no discipline, registry or config that it does not use", async () => {
  const queue = ["createWorkQueue", "createDelayingQueue", "createRateLimitingQueue", "runWorkers"];
  assertEquals(await roomsIn(...queue), []);
  assertEquals(await roomsIn(...queue, "createDefaultControllerLimiter"), ["limiters"]);
  assertEquals(await roomsIn(...queue, "createFairDiscipline"), ["disciplines", "registry"]);
});
