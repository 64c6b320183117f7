import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import docs from "../package.json" with { type: "json" };

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const OPTIONS = ["--ignoreConfig", "--strict", "--lib", "es2022,dom,esnext.disposable", "--target", "es2022"]
  .concat(["--module", "esnext", "--moduleResolution", "bundler", "--allowImportingTsExtensions"]);

/** Programs that import names of the core: a description, the names, and the code. */
const PROGRAMS: readonly (readonly [description: string, names: string, code: string])[] = [
  ["imports the main entry and uses nothing", "createWorkQueue", ""],
  ["adds an item to a work queue", "createWorkQueue", 'createWorkQueue<string>().add("a");'],
  [
    "is a typical controller",
    "createDefaultControllerLimiter, createRateLimitingQueue, runWorkers",
    `const queue = createRateLimitingQueue<string>(createDefaultControllerLimiter());
runWorkers(queue, (item) => console.log(item), { concurrency: 4 });`,
  ],
  [
    "builds a limiter from a config",
    "limiters",
    'limiters.build({ type: "exponential", baseDelay: "5ms", maxDelay: "1m" });',
  ],
  [
    "loads a config, and runs a queue of it",
    "loadConfig",
    `const config = loadConfig("{}");
config.runWorkers("mails", config.queue<string>("mails"), (item) => console.log(item));`,
  ],
];

/**
 * Returns the rows of the programs: the number of instantiations of generic types when a program is checked, without
 * those inside declarations, which the usual `skipLibCheck` leaves out.
 */
export async function typeCosts(): Promise<[description: string, instantiations: number][]> {
  const folder = mkdtempSync(join(tmpdir(), "workqueue_types_"));
  try {
    await tsc("--declaration", "--emitDeclarationOnly", "--rootDir", ROOT, "--outDir", folder, join(ROOT, "mod.ts"));
    return await Promise.all(PROGRAMS.map(async ([description, names, code], i) => {
      const program = join(folder, `program_${i}.ts`);
      writeFileSync(program, `import { ${names} } from "./mod.ts";\n${code}\n`);
      const output = await tsc("--noEmit", "--skipLibCheck", "--extendedDiagnostics", "--singleThreaded", program);
      return [description, Number(/^Instantiations: +(\d+)$/m.exec(output)![1])] as [string, number];
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs the compiler, with the version in the lock file. Returns its output. */
async function tsc(...args: string[]): Promise<string> {
  const config = join(ROOT, "deno.all.json");
  const compiler = ["run", "-A", "--config", config, `npm:typescript@${docs.dependencies.typescript}/tsc`];
  const { stdout } = await promisify(execFile)(process.execPath, [...compiler, ...OPTIONS, ...args], { cwd: ROOT });
  return stdout;
}
