/**
 * Shows `workqueue run` at work: every file of this repository but the tests and benchmarks, some of them twice, goes
 * through a checksum that fails now and then.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { readdirSync } from "node:fs";
import process from "node:process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { exitWith, main } from "./main.ts";

const LEFT_OUT = [".git", "node_modules", "tests", "bench"];

function* walk(directory: string): Generator<string, void, void> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = directory === "." ? entry.name : `${directory}/${entry.name}`;
    if (LEFT_OUT.includes(entry.name)) continue;
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield path;
  }
}

process.chdir(fileURLToPath(new URL("../../", import.meta.url)));
const files = [...walk(".")].sort();
const twice = files.filter((_, index) => index % 10 === 0);
const list = [...files, ...twice].map((path) => path + "\n").join("");

// Started without a config, a lock file and permission prompts, as that is the fastest.
const checksum = [process.execPath, "run", "-A", "--no-config", "--no-lock", "examples/flaky_checksum.ts", "{}"];
const args = ["run", "--config", "examples/workqueue.json", "--queue", "demo", "--", ...checksum];
await exitWith(await main(args, Readable.from([Buffer.from(list)])));
