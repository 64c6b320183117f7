/** The page `tests/TIMES.md`: the times of the parts and of the longest test files. */

import { cpus } from "node:os";
import type { Result } from "./run_part.ts";

/** Number of files that the page lists. */
const FILES = 60;

/** Returns the page. */
export function timesPage(results: readonly Result[], seconds: number): string {
  const parts = results.map(({ part, seconds }) => ({ name: part.name, seconds }));
  const files = results.flatMap(({ part, files }) =>
    [...files].map(([file, seconds]) => ({ name: `\`${file}\` | ${part.name}`, seconds }))
  );
  return `# Times of the tests

\`npx -y deno task times\` runs everything and writes this page. Several parts ran at a time on ${cpus().length} cores, so a time
includes waiting for a core. Everything took ${seconds.toFixed(0)} seconds.

| part | seconds |
| ---- | ------: |
${rows(parts, Infinity)}
The longest test files:

| file | part | seconds |
| ---- | ---- | ------: |
${rows(files, FILES)}`;
}

function rows(entries: readonly { readonly name: string; readonly seconds: number }[], most: number): string {
  return entries.toSorted((a, b) => b.seconds - a.seconds).slice(0, most)
    .map(({ name, seconds }) => `| ${name} | ${seconds.toFixed(1)} |\n`).join("");
}
