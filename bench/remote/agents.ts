/** Functions that start agents and call them. */

import { build, stop } from "esbuild";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { BENCH, CONFIG, findBun, output } from "../machine.ts";
import { NAMES, type RuntimeName } from "../rows/row.ts";

/** Runtime, and a function that starts an agent on it, with further environment variables. */
export interface Runtime<C> {
  readonly id: RuntimeName;
  /** Name in the tables. */
  readonly name: string;
  readonly version: string;
  start(env?: Readonly<Record<string, string>>): Agent<C>;
}

/** Program of an agent. */
export interface Program {
  readonly url: URL;
  /** Node's executable. If it is not installed, there are no agents on Node. */
  readonly node: string;
  /** npm packages that the program imports. */
  readonly packages: readonly string[];
}

/**
 * Returns the runtimes that are installed. Node can't run the TypeScript sources, so it runs a JavaScript bundle, just
 * as users of the npm package run compiled JavaScript.
 */
export async function findRuntimes<C>({ url, node, packages }: Program): Promise<Runtime<C>[]> {
  const script = fileURLToPath(url);
  const bun = await findBun();
  const nodeVersion = await output(node, ["--version"], BENCH);
  const runtimes: { id: RuntimeName; version: string; command: string[] }[] = [
    {
      id: "deno",
      version: `Deno ${Deno.version.deno}`,
      command: [Deno.execPath(), "run", "--config", CONFIG, "-A", "--no-check", script],
    },
    { id: "bun", version: `Bun ${await output(bun, ["--version"], BENCH)}`, command: [bun, script] },
  ];
  if (nodeVersion !== undefined) {
    const bundle = `${BENCH}node_modules/.agents/${script.slice(BENCH.length).replace(/\.ts$/, ".mjs")}`;
    await bundleOf(script, bundle, packages);
    runtimes.push({ id: "node", version: `Node ${nodeVersion.slice(1)}`, command: [node, "--no-warnings", bundle] });
  }
  return runtimes.map(({ id, version, command }) => ({
    ...{ id, version, name: NAMES[id] },
    start: (env) => new Agent<C>(command, env),
  }));
}

async function bundleOf(script: string, outfile: string, packages: readonly string[]): Promise<void> {
  await build({
    entryPoints: [script],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: [...packages],
    tsconfig: fileURLToPath(new URL("../../tsconfig.json", import.meta.url)),
  });
  await stop();
}

type ArgumentsOf<F> = F extends (...args: infer A) => unknown ? A : never;
type ResultOf<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;

/**
 * Process that answers calls, one after the other.
 *
 * @typeParam C The functions that the process can call. Arguments and results are JSON.
 */
export class Agent<C> implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor([command, ...args]: string[], env: Readonly<Record<string, string>> = {}) {
    this.#process = spawn(command!, args, {
      cwd: BENCH,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#answers = createInterface(this.#process.stdout!)[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async call<N extends keyof C & string>(name: N, ...args: ArgumentsOf<C[N]>): Promise<ResultOf<C[N]>> {
    this.#process.stdin!.write(`${JSON.stringify([name, ...args])}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error(`The process has ended that was to do ${name}`);
    return JSON.parse(value).result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin!.end();
    await ended;
  }
}
