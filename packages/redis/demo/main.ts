/**
 * Demo of a queue that several processes share: three workers and a producer, on the demo's own Redis server. One
 * worker is killed while it processes photos, and every photo still gets done. Then tenants take turns, and a redrive
 * adds the orders that were given up.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { runOrders } from "./orders.ts";
import { type Event, LEASE, openPhotos } from "./photos.ts";
import { findServer } from "./server.ts";

/**
 * Number of photos that a worker takes before it is killed. Only the first worker that takes this many photos is
 * killed, `KILLED_AFTER` milliseconds later, while it processes two photos.
 */
const KILLED_AT = 4;
const KILLED_AFTER = 250;
/** Arguments that the runtime requires before a script's path. */
const RUN = "Deno" in globalThis ? ["run", "-A"] : [];

const server = await findServer();
if (server === undefined) {
  console.error(
    "There is no redis-server or valkey-server: apt-get install redis-server, " +
      "or set WORKQUEUE_REDIS_URL to the address of a running server",
  );
  process.exit(1);
}
const name = `photos-${crypto.randomUUID()}`;
const queue = openPhotos([name, server.url]);

const startedAt = performance.now();
function say(who: string, what: string): void {
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${who.padEnd(8)}  ${what}`);
}

const children = new Set<ChildProcess>();
function start(script: string): ChildProcess {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [...RUN, file, name, server!.url], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Worker process and the state of its work. */
class Worker {
  readonly name: string;
  readonly child = start("worker.ts");
  readonly running = new Set<string>();
  taken = 0;
  done = 0;
  /** Resolves to the exit code when the process has ended and all of its output has been read. */
  readonly ended: Promise<number | null> = once(this.child, "close").then(([code]) => code);

  constructor(number: number) {
    this.name = `worker ${number}`;
    createInterface(this.child.stdout!).on("line", (line) => this.#hear(JSON.parse(line)));
  }

  #hear(event: Event): void {
    const { photo } = event;
    if (event.kind !== "takes") this.running.delete(photo);
    switch (event.kind) {
      case "takes": {
        this.taken++;
        this.running.add(photo);
        const again = event.attempt > 1 ? `, attempt ${event.attempt}` : "";
        const back = killed !== this && killed?.running.delete(photo) ? `, which comes back from ${killed.name}` : "";
        say(this.name, `works on ${photo}${again}${back}`);
        if (this.taken === KILLED_AT && killed === undefined) {
          killed = this;
          setTimeout(() => this.#kill(), KILLED_AFTER);
        }
        break;
      }
      case "done":
        this.done++;
        done.add(photo);
        break;
      case "failed":
        retries++;
        say(this.name, `${photo} failed: ${event.error}; it will be retried`);
    }
  }

  #kill(): void {
    this.child.kill("SIGKILL");
    lost = this.running.size;
    const photos = [...this.running].sort().join(" and ");
    say("", `${this.name} is killed, in the middle of ${photos}: nobody else gets that for ${LEASE} s`);
  }
}

let killed: Worker | undefined;
let lost = 0;
let retries = 0;
const done = new Set<string>();

/** Resolves to the exit code of the demo when every photo and every order is done. */
async function work(signal: AbortSignal): Promise<number> {
  say("", `three workers and a producer share a queue on ${server!.what}`);
  const workers = [1, 2, 3].map((number) => new Worker(number));
  const [code] = await once(start("producer.ts"), "exit");
  await queue.whenIdle({ signal });
  const { ready, delayed, processing, failing, givenUp } = await queue.counts();
  const others = workers.filter((worker) => worker !== killed);
  for (const { child } of others) process.kill(child.pid!, "SIGTERM"); // a deploy also sends SIGTERM
  const codes = [code, ...await Promise.all(others.map(({ ended }) => ended))];
  say("", "the queue is empty, and the workers have ended");
  const orders = await runOrders(`${name}-orders`, server!.url, say, signal);
  console.log(`
photos done:    ${done.size} (${workers.map((worker) => `${worker.done} by ${worker.name}`).join(", ")})
retried:        ${retries}, as they had failed
come back:      ${lost}, from the worker that was killed
on the server:  ${ready} ready, ${delayed} delayed, ${processing} processing, ${failing} failing, ${givenUp} given up
orders done:    ${orders.done}, and ${orders.givenUp} are still given up`);
  const left = ready + delayed + processing + failing + givenUp + orders.givenUp;
  return codes.every((code) => code === 0) && left === 0 ? 0 : 1;
}

/** Kills all processes that are still running. */
async function killAll(): Promise<void> {
  const ended = [...children].map((child) => once(child, "exit"));
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(ended);
}

const interruption = new AbortController();
const interrupted = new Promise<number>((resolve) => {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    process.on(signal, () => { // not `once`: `deno task` repeats signals that this process has already received
      interruption.abort();
      resolve(code);
    });
  }
});
const working = work(interruption.signal);
try {
  process.exitCode = await Promise.race([working, interrupted]);
} finally {
  await killAll();
  await working.catch(() => {}); // an interruption ends it
  await queue.shutDownWithDrain(); // wait for running calls, which could add keys after the queue is removed
  await server.end(name);
}
process.exit();
