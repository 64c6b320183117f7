/**
 * Lets the suite run on Bun: `Deno.test` there is Bun's own `test`.
 *
 * The tests use nothing else of `Deno`, but for those of `tests/cli/`, `tests/docs/`, `tests/house/` and
 * `tests/installs/`. These and those of `tests/recipes/` and of each folder `process/` start processes, on both runtimes
 * already, and are left to Deno.
 */

// @ts-ignore -- Deno's type checker does not know Bun's modules
import { test } from "bun:test";

type Run = () => void | Promise<void>;

function denoTest(definition: string | { name: string; fn: Run; ignore?: boolean }, run?: Run): void {
  const { name, fn, ignore = false } = typeof definition === "string" ? { name: definition, fn: run! } : definition;
  (ignore ? test.skip : test)(name, fn);
}

Object.assign(globalThis, { Deno: { test: denoTest } });
