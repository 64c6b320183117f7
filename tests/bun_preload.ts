/**
 * Lets the suite run on Bun: `Deno.test` there is Bun's own `test`.
 *
 * The tests that Bun runs use nothing else of `Deno`. `denoFolders` in `tests/test_files.ts` lists the folders that
 * stay with Deno: their tests use more of it, or start processes on both runtimes already.
 */

// @ts-ignore -- Deno's type checker does not know Bun's modules
import { test } from "bun:test";

type Run = () => void | Promise<void>;

function denoTest(definition: string | { name: string; fn: Run; ignore?: boolean }, run?: Run): void {
  const { name, fn, ignore = false } = typeof definition === "string" ? { name: definition, fn: run! } : definition;
  (ignore ? test.skip : test)(name, fn);
}

Object.assign(globalThis, { Deno: { test: denoTest } });
