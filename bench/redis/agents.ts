/** Functions that start agents and call them. */

import { build, stop } from "esbuild";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { BENCH, CONFIG, findBun, output } from "../machine.ts";
import type { Calls } from "./agent.ts";

const AGENT = fileURLToPath(new URL("agent.ts", import.meta.url));
const BUNDLE = `${BENCH}node_modules/.agent/agent.mjs`;

/** Runtime, and a function that starts an agent on it. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  start(): Agent;
}

/**
 * Returns the runtimes that are installed. Node can't run the TypeScript sources, so it runs a JavaScript bundle, just
 * as users of the npm package run compiled JavaScript.
 */
export async function findRuntimes(): Promise<Runtime[]> {
  const bun = await findBun();
  const node = await output("node", ["--version"], BENCH);
  const runtimes = [
    {
      name: "Deno",
      version: `Deno ${Deno.version.deno}`,
      command: [Deno.execPath(), "run", "--config", CONFIG, "-A", "--no-check", AGENT],
    },
    { name: "Bun", version: `Bun ${await output(bun, ["--version"], BENCH)}`, command: [bun, AGENT] },
  ];
  if (node !== undefined) {
    await bundle();
    runtimes.push({ name: "Node", version: `Node ${node.slice(1)}`, command: ["node", BUNDLE] });
  }
  return runtimes.map(({ name, version, command }) => ({ name, version, start: () => new Agent(command) }));
}

async function bundle(): Promise<void> {
  await build({
    entryPoints: [AGENT],
    outfile: BUNDLE,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["bullmq", "ioredis", "@redis/client"],
    tsconfig: fileURLToPath(new URL("../../tsconfig.json", import.meta.url)),
  });
  await stop();
}

/** Process that answers calls, one after the other. */
export class Agent implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor([command, ...args]: string[]) {
    this.#process = spawn(command!, args, { cwd: BENCH, stdio: ["pipe", "pipe", "inherit"] });
    this.#answers = createInterface(this.#process.stdout!)[Symbol.asyncIterator]();
  }

  async call<C extends keyof Calls>(name: C, ...args: Parameters<Calls[C]>): Promise<Awaited<ReturnType<Calls[C]>>> {
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
