/**
 * Loads the examples of pages and comments into one isolate. `deno test --doc` runs each in an isolate of its own,
 * which loads and compiles the packages again. So an example must leave global state as it was. For example, queues
 * that share the global register of `prom-client` must have different names.
 */

import { examplesIn, testOf } from "../docs/example_blocks.ts";

const ROOT = new URL("../../", import.meta.url);

/** Folder for the tests. Git ignores it. */
const FOLDER = new URL("deno.examples/run/", ROOT);

/** Loads one of the slices into which the files with examples are divided. The slices are numbered from 0. */
export async function loadExamples(index: number, slices: number): Promise<void> {
  const files = filesIn("").sort().filter((_, i) => i % slices === index);
  const tests = files.flatMap((path) => {
    const file = new URL(path, ROOT);
    return examplesIn(path, Deno.readTextFileSync(file)).map((example) => testOf(example, file));
  });
  const imports = new Set(tests.flatMap((test) => test.imports));
  Deno.mkdirSync(FOLDER, { recursive: true });
  const module = new URL(`slice_${index + 1}.ts`, FOLDER);
  Deno.writeTextFileSync(module, [...imports, ...tests.map(({ test }) => test)].join("\n"));
  await import(module.href);
}

/** Returns the paths of all pages and modules in a folder, except for tests and hidden files. */
function filesIn(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) => {
    if (/^\.|^node_modules$|^deno\.examples$|_test\.ts$/.test(name)) return [];
    const path = `${folder}${name}`;
    return isDirectory ? filesIn(`${path}/`) : /\.(md|tsx?)$/.test(name) ? [path] : [];
  });
}
