/** Contract suite for `addAndWait` between real processes, some of which are killed: rule 23. */

import { assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import type { RemoteQueue } from "@workqueue/engine";
import { ROOT } from "../cli/cli.ts";

const SCRIPT = `${ROOT}tests/contracts/waits_process.ts`;

/** Process, and the lines that it has written. */
class Process {
  readonly pid: number;
  readonly lines: string[] = [];
  readonly ended: Promise<void>;
  readonly #child: Deno.ChildProcess;

  constructor(role: string, name: string, place: string) {
    const options = ["run", "-A", "--no-check", "--config", `${ROOT}deno.all.json`, SCRIPT, role, name, place];
    this.#child = new Deno.Command(Deno.execPath(), { args: options, stdout: "piped", stderr: "inherit" }).spawn();
    this.pid = this.#child.pid;
    this.ended = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines);
    }
    await this.#child.status;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}

/** Waits until a condition holds. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Queue of a test, and what another process needs to open it. */
export interface ProcessPlace {
  readonly name: string;
  /** URL of the server, or path of the file. */
  readonly place: string;
  open(options: object): RemoteQueue;
}

/** Registers the suite for one engine. `test` registers a test that has its own queue. */
export function killedWaitsSuite(test: (name: string, run: (place: ProcessPlace) => Promise<void>) => void): void {
  const options = { leaseDuration: "1s", results: { keepFor: "1m" } };

  test("rule 23: a worker that is killed ends no wait, and the next worker's result counts", async (place) => {
    await using queue = place.open(options);
    const before = queue.addAndWait("a");
    const hanging = new Process("hang", place.name, place.place);
    await until(() => hanging.lines.includes("began a"));
    const during = queue.addAndWait("a");
    await until(async () => (await queue.snapshot()).processingItems[0]?.addedAgain === true);
    await hanging.kill();
    const worker = new Process("work", place.name, place.place);
    const result = { of: "a", by: worker.pid };
    assertEquals(await Promise.all([before, during]), [result, result]);
    await worker.kill();
  });

  test("rule 23: a waiting process gets the result, and one that is killed leaves nothing to do", async (place) => {
    await using queue = place.open(options);
    const waiting = new Process("wait", place.name, place.place);
    const killed = new Process("wait", place.name, place.place);
    await until(async () => (await queue.counts()).ready === 1);
    const lease = await queue.get();
    if (lease.shutdown) throw new Error("the queue was shut down");
    await lease.finish({ requeue: true }); // both processes may have added the item by now, or add it later
    await killed.kill();
    const pool = runWorkers(queue, (item) => item.toUpperCase());
    await waiting.ended;
    assertEquals([waiting.lines, killed.lines], [['got "A"'], []]);
    assertEquals(await queue.addAndWait("a"), "A");
    await queue.whenIdle();
    await pool.stop();
  });
}
