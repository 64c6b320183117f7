/**
 * Prints the SHA-256 of a file, as a command that fails now and then: for one file in five the first
 * attempt, and for a few of those the second one too. Which they are depends on the file's name alone, so
 * that every run is the same.
 *
 * ```sh
 * workqueue run --input files.txt -- deno run -A examples/flaky_checksum.ts {}
 * ```
 *
 * @module
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";

const path = process.argv[2] ?? "";
const attempt = Number(process.env["WORKQUEUE_ATTEMPT"] ?? 1);

const chance = createHash("sha256").update(path).digest().readUInt32BE();
const failures = chance % 25 === 0 ? 2 : chance % 5 === 0 ? 1 : 0;
if (attempt <= failures) {
  console.error(`The disk was busy (attempt ${attempt})`);
  process.exit(1);
}
console.log(`${createHash("sha256").update(readFileSync(path)).digest("hex")}  ${path}`);
