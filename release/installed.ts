/**
 * Functions that install the `workqueue` command as a user without a clone would. Local registries serve the packages
 * as they would be published.
 */

import { dirname } from "node:path";
import { NPM, run } from "./commands.ts";
import { JsrRegistry } from "./jsr_registry.ts";
import { NpmRegistry } from "./npm_registry.ts";
import { packedOnce } from "./packed.ts";

/** Packages that make up the command on JSR, each after its dependencies. On npm, the command contains the others. */
const PACKAGES = [
  ".",
  "packages/config-file",
  "packages/dashboard",
  "packages/simulate",
  "packages/engine",
  "packages/redis",
  "packages/sqlite",
  "packages/cli",
];

/**
 * Functions that install the command in an empty folder, one for each runtime. Each function returns the start of the
 * command line.
 */
const INSTALLS = { Deno: installForDeno, Bun: installForBun, Node: installForNode };

/** Runtime of the command. */
export type Runtime = keyof typeof INSTALLS;
export const RUNTIMES = Object.keys(INSTALLS) as Runtime[];

const done = new Map<Runtime, Promise<string[]>>();
let npmRegistry: Promise<NpmRegistry> | undefined;

/**
 * Installs the command, but only once per program or test file. The installation is removed when the program or test
 * file ends.
 *
 * @returns The start of the command line: a program and its first arguments.
 */
export function installed(runtime: Runtime): Promise<string[]> {
  const command = done.get(runtime) ?? INSTALLS[runtime]();
  done.set(runtime, command);
  return command;
}

function temporaryFolder(): string {
  const folder = Deno.makeTempDirSync({ prefix: "workqueue_" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  return folder;
}

async function installForDeno(): Promise<string[]> {
  const folder = temporaryFolder();
  const env = await runWithJsr(folder, ["install", "-gA", "-n", "workqueue", "--root", ".", "jsr:@workqueue/cli"]);
  const path = `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`; // the installed script looks for `deno` in `PATH`
  const variables = Object.entries({ ...env, PATH: path }).map(([name, value]) => `${name}=${value}`);
  return ["env", ...variables, `${folder}/bin/workqueue`];
}

/** Compiles the command into a single executable file. Returns the start of the command line. */
export async function compiled(): Promise<string[]> {
  const folder = temporaryFolder();
  await runWithJsr(folder, ["compile", "-A", "--output", "workqueue", "jsr:@workqueue/cli"]);
  await Deno.remove(`${folder}/deno_dir`, { recursive: true }); // the compiled file does not need Deno's cache
  return [`${folder}/workqueue`];
}

/**
 * Runs Deno with an empty cache and a local JSR registry. Stops the registry afterwards. Returns the environment
 * variables that were set for the run.
 */
async function runWithJsr(folder: string, args: string[]): Promise<Record<string, string>> {
  await using registry = new JsrRegistry();
  for (const name of PACKAGES) await registry.publish(name);
  const env = { JSR_URL: registry.url, DENO_DIR: `${folder}/deno_dir` };
  await run(Deno.execPath(), args, folder, env);
  return env;
}

async function installForNode(): Promise<string[]> {
  // The installation has no absolute paths, so the test files of a run can share one.
  const folder = await packedOnce("command installed for Node", async (scratch) => {
    const { npmOption } = await npm();
    const args = ["install", "--global", "--engine-strict", "--prefer-offline", "--no-audit", "--no-fund"];
    await run(NPM, [...args, "--prefix", scratch, npmOption, "@workqueue/cli"], scratch);
  });
  return [`${folder}/bin/workqueue`];
}

async function installForBun(): Promise<string[]> {
  const folder = temporaryFolder();
  const { url } = await npm();
  const { stdout } = await run("npx", ["-y", "bun@1", "-e", "console.log(process.execPath)"], folder);
  const bun = stdout.trim();
  Deno.writeTextFileSync(`${folder}/.bunfig.toml`, `[install.scopes]\n"@workqueue" = "${url}"\n`);
  await run(bun, ["add", "--global", "@workqueue/cli"], folder, { XDG_CONFIG_HOME: folder, BUN_INSTALL: folder });
  return [bun, `${folder}/bin/workqueue`]; // `bun` comes first because the script's own first line starts Node
}

/** Returns a local npm registry with the command, which needs no other package of this repository. */
function npm(): Promise<NpmRegistry> {
  return npmRegistry ??= (async () => {
    const registry = new NpmRegistry();
    globalThis.addEventListener("unload", () => void registry[Symbol.asyncDispose]());
    await registry.publish("packages/cli");
    return registry;
  })();
}
