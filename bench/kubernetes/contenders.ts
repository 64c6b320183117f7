/** Controllers that are compared: the same one on controller-runtime, and on this package on each runtime. */

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../tests/keeper.ts";
import type { Cluster } from "../../tests/kubernetes/real/cluster.ts";
import { ControllerProcess } from "../../tests/kubernetes/real/controller_process.ts";
import { build } from "../../tests/kubernetes/real/programs.ts";
import { installPackages } from "../../tests/packages_from_npm.ts";
import { allRuntimes, HAS_NODE } from "../../tests/runtimes.ts";
import { output } from "../machine.ts";

/** Name of the contender that the others are compared with. */
export const GO = "controller-runtime";

const OURS = fileURLToPath(new URL("greeter.ts", import.meta.url));
const THEIRS = new URL("controller-runtime/", import.meta.url);

/** Options of runtimes, as in docs/controller.md: they save memory. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  Deno: ["--v8-flags=--optimize-for-size"],
  Node: ["--optimize-for-size"],
};
const ATTEMPTS = /^controller_runtime_reconcile_total\{.*\} (\S+)$/gm;

/** Options of a start. */
export interface StartOptions {
  /** Whether the controller waits for a leader lease. */
  readonly elects?: boolean;
  /** Whether attempts are counted, which takes a little time. */
  readonly counts?: boolean;
}

/** Running controller. */
export interface Running {
  readonly process: ControllerProcess;
  /** Returns the number of attempts that have ended. The controller must count them. */
  attempts(): Promise<number>;
}

/** Controller to compare. */
export interface Contender {
  readonly name: string;
  /** Version, for the page. */
  readonly version: string;
  /** Code lines of the controller, without comments and empty lines. */
  readonly lines: number;
  /** Starts the controller. */
  start(cluster: Cluster, kubeconfig: string, options?: StartOptions): Promise<Running>;
}

/** Returns the contenders. */
export async function findContenders(only: readonly string[] = []): Promise<Contender[]> {
  if (!HAS_NODE) {
    await installPackages();
    throw new Error("The packages from npm are installed now: start again.");
  }
  const ours = Object.entries(allRuntimes).map(([runtime, command]) => () => packageOn(runtime, command));
  const all = [
    [GO, controllerRuntime] as const,
    ...Object.keys(allRuntimes).map((name, i) => [name, ours[i]!] as const),
  ];
  return await Promise.all(all.filter(([name]) => only.length === 0 || only.includes(name)).map(([, find]) => find()));
}

async function controllerRuntime(): Promise<Contender> {
  const main = await readFile(new URL("main.go", THEIRS), "utf8");
  const module = await readFile(new URL("go.mod", THEIRS), "utf8");
  const program = await build("controller-runtime", { module: () => Promise.resolve(module), main });
  const [, version] = /controller-runtime v(\S+)/.exec(module)!;
  const go = await output("go", ["env", "GOVERSION"], fileURLToPath(THEIRS));
  return {
    name: GO,
    version: `controller-runtime ${version} (${go})`,
    lines: linesOf(main),
    async start(_cluster, kubeconfig, { elects = false } = {}) {
      const [metrics, health] = [await freePort(), await freePort()].map((port) => `127.0.0.1:${port}`);
      const args = [`--metrics=${metrics}`, `--health=${health}`, `--elect=${elects}`];
      const process = new ControllerProcess([program, ...args], { KUBECONFIG: kubeconfig });
      return {
        process,
        attempts: async () => sumOf(await (await fetch(`http://${metrics}/metrics`)).text(), ATTEMPTS),
      };
    },
  };
}

async function packageOn(runtime: string, command: () => Promise<string[]>): Promise<Contender> {
  const words = [...await command(), ...OPTIONS[runtime] ?? []];
  const [version] = (await output(words[0]!, ["--version"], "/"))!.split("\n");
  return {
    name: runtime,
    version: version!.toLowerCase().startsWith(runtime.toLowerCase()) ? version! : `${runtime} ${version}`,
    lines: linesOf(await readFile(OURS, "utf8")),
    async start(_cluster, kubeconfig, { elects, counts } = {}) {
      const port = await freePort();
      const env = {
        KUBECONFIG: kubeconfig,
        PORT: String(port),
        ...elects && { LEASE: `greeter-${runtime.toLowerCase()}` },
        ...counts && { COUNTS: "yes" },
      };
      const process = new ControllerProcess([...words, OURS], env);
      return { process, attempts: () => Promise.resolve(process.of("end").length) };
    },
  };
}

/** Returns the sum of the metrics that a pattern finds. */
function sumOf(metrics: string, pattern: RegExp): number {
  return [...metrics.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Returns the number of lines with code. */
function linesOf(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/\*\*)/.test(line)).length;
}
