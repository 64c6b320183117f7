/** Variations of tests that only `deno task test:every` runs. */

import process from "node:process";

/**
 * Whether to run each test in all its variations: on every runtime, with every package and every kind of server. By
 * default, a test runs in those that can fail on their own.
 */
export const EVERY: boolean = process.env["WORKQUEUE_EVERY"] !== undefined;

/**
 * Whether to repeat random operations often. Once is enough for code that is the same on each runtime: on Deno, or on
 * every runtime in `deno task test:every`. On another runtime, a few repetitions show that the code runs there.
 */
export const OFTEN: boolean = EVERY || process.versions["deno"] !== undefined;

/** Registers a test that only `deno task test:every` runs. */
export function everyTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !EVERY, fn });
}
