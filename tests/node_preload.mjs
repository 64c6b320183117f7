/**
 * Runs the tests on Node: replaces `Deno.test` with Node's own `test`, converts TypeScript, and finds the packages of
 * this repository in its import map.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";

const ROOT = new URL("../", import.meta.url);
/** Folder of converted modules. Converting a module starts a process, and each process and thread needs all modules. */
const CONVERTED = new URL("node_modules/.converted/", import.meta.url);

function readJson(name) {
  return JSON.parse(readFileSync(new URL(name, ROOT), "utf8"));
}

const require = createRequire(import.meta.url);
const { version } = require("esbuild/package.json");

/** Returns a module's code in JavaScript, which is kept for other processes and later runs. */
function convert(url) {
  const source = readFileSync(fileURLToPath(url), "utf8");
  const hash = createHash("sha256").update(JSON.stringify([version, url, source])).digest("hex");
  const file = new URL(`${hash}.js`, CONVERTED);
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The module is new or has changed.
  }
  const { transformSync } = require("esbuild"); // most threads find each module converted
  const { code } = transformSync(source, { loader: "ts", target: "node22", sourcemap: "inline", sourcefile: url });
  const own = new URL(`${hash}.${process.pid}.${threadId}`, CONVERTED);
  mkdirSync(CONVERTED, { recursive: true });
  writeFileSync(own, code);
  renameSync(own, file); // another process never reads a part of the file
  return code;
}

const { imports, exports } = readJson("deno.all.json");
const core = Object.entries(exports).map(([path, file]) => [`@workqueue/core${path.slice(1)}`, file]);
const files = new Map([...core, ...Object.entries(imports)]);

registerHooks({
  resolve(specifier, context, next) {
    const file = files.get(specifier);
    return file?.startsWith("./") ? { url: new URL(file, ROOT).href, shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(ROOT.href) || !url.endsWith(".ts")) return next(url, context);
    return { format: "module", source: convert(url), shortCircuit: true };
  },
});

// A thread that evaluates a text does not load this module first, unlike the process.
const threads = process.getBuiltinModule("node:worker_threads");
threads.Worker = class extends threads.Worker {
  constructor(code, options) {
    super(options?.eval ? `import(${JSON.stringify(import.meta.url)}).then(() => { ${code} })` : code, options);
  }
};

globalThis.Deno = { test: (name, run) => void test(name, run) };
