/**
 * Replaces `Deno.test` with Bun's own `test`, so that the tests run on Bun.
 *
 * The tests that run on Bun use no other member of `Deno`. `denoFolders` in `tests/test_files.ts` lists the folders
 * that run only on Deno. Tests in these folders use other members of `Deno`, or start processes on both runtimes
 * themselves.
 */

// @ts-ignore -- Deno's type checker does not know Bun's modules
import { test } from "bun:test";

type Run = () => void | Promise<void>;

function denoTest(definition: string | { name: string; fn: Run; ignore?: boolean }, run?: Run): void {
  const { name, fn, ignore = false } = typeof definition === "string" ? { name: definition, fn: run! } : definition;
  (ignore ? test.skip : test)(name, fn);
}

Object.assign(globalThis, { Deno: { test: denoTest } });
