/**
 * Runs the tests on Node: replaces `Deno.test` with Node's own `test`, converts TypeScript, and finds the packages of
 * this repository in its import map.
 */

import { transformSync } from "esbuild";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../", import.meta.url);

function readJson(name) {
  return JSON.parse(readFileSync(new URL(name, ROOT), "utf8"));
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
    const { code } = transformSync(readFileSync(fileURLToPath(url), "utf8"), {
      loader: "ts",
      target: "node22",
      sourcemap: "inline",
      sourcefile: url,
    });
    return { format: "module", source: code, shortCircuit: true };
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
