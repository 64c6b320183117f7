/**
 * Tests of worker processes that an item kills, that end on a signal, that are stopped for a while, or that exit by
 * themselves.
 */

import { assert, assertEquals } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Runtime, RUNTIMES } from "../../../run_script.ts";
import { runtimes } from "../../../runtimes.ts";
import { redisTest } from "../../redis_tests.ts";
import { newQueue, open, take, until } from "../faults.ts";
import { startWorker, Witness, type WorkerArguments } from "./workers.ts";

const USUAL = { leaseDuration: 700, maxStalls: 3, concurrency: 10, ms: 2, failsOnce: false };

redisTest(
  "poison: the item is given up, makes other items stall twice at most, and can be added again",
  async ({ url }) => {
    await using witness = await Witness.start();
    const { name, stored } = newQueue(url);
    await using opened = open(url, name);
    const { queue } = opened;
    const neighbours: string[] = [];
    const addNeighbours = async () => {
      const some = Array.from({ length: 200 }, (_, i) => `item ${neighbours.length + i}`);
      neighbours.push(...some);
      await queue.addAll(some);
    };
    await addNeighbours();
    await queue.add("poison");
    const args: WorkerArguments = { ...USUAL, url, witness: witness.url, name, poison: "poison" };
    let isOver = false;
    const keepRunning = async (runtime: Runtime) => {
      for (;;) {
        const worker = await startWorker(runtime, args);
        const end = await Promise.race([worker.ended, until(() => isOver)]);
        if (end === undefined) {
          await worker.ready;
          worker.kill("SIGTERM");
          return await worker.ended;
        }
        await witness.noteDeath(worker.pid);
      }
    };
    const running = RUNTIMES.map(keepRunning);
    await until(async () => { // ensures that other work is always available
      const { ready, givenUp } = await queue.counts();
      if (ready < 200) await addNeighbours();
      return givenUp === 1;
    });
    await queue.whenIdle();
    isOver = true;
    assertEquals(await Promise.all(running), [0, 0]);

    await witness.read();
    assertEquals(witness.hands.length, 3);
    assert(witness.hands[1]!.includes("poison"));
    assertEquals(witness.hands[2], ["poison"], "it stalled twice, so it is tried alone");
    const stalled = new Set(witness.hands[0]);
    assertEquals(
      witness.hands[1]!.filter((item) => stalled.has(item)),
      ["poison"],
      "a tenth of a pool has none that stalled beside it",
    );
    assertEquals([...witness.ends.keys()].sort(), neighbours.sort());
    assertEquals(witness.wrong, []);
    assertEquals(witness.errors.length, 1);
    assert(witness.errors[0]!.includes('"poison" is given up'));
    assertEquals(await stored.stalls(), 1); // the given-up item

    await queue.add("poison");
    assertEquals((await queue.counts()).givenUp, 0);
    const lease = await take(queue);
    assertEquals([lease.item, await lease.finish(), await stored.stalls()], ["poison", true, 0]);
  },
);

redisTest("drain under SIGTERM: each outcome is written, and other processes continue", async ({ url }) => {
  await using witness = await Witness.start();
  const { name, stored } = newQueue(url);
  await using opened = open(url, name);
  const items = Array.from({ length: 2000 }, (_, i) => `item ${i}`);
  await opened.queue.addAll(items);
  const args: WorkerArguments = { ...USUAL, leaseDuration: 60_000, url, witness: witness.url, name, failsOnce: true };
  const workers = await Promise.all([...RUNTIMES, "Deno" as const].map((runtime) => startWorker(runtime, args)));
  await Promise.all(workers.map(({ ready }) => ready));
  for (const [i, worker] of workers.slice(0, 2).entries()) {
    await until(async () => (await witness.read(), witness.ends.size) > 100 * (i + 1));
    worker.kill("SIGTERM");
    assertEquals(await worker.ended, 0);
    const holders = new Set((await stored.call("HVALS", "holders") as string[]).map((holder) => holder.split(":")[1]));
    assert(holders.size <= workers.length - 1 - i);
  }
  await opened.queue.whenIdle();
  workers[2]!.kill("SIGTERM");
  assertEquals(await workers[2]!.ended, 0);
  await witness.read();
  // No item was lost: a lost item would have been handed out again after a minute. Each attempt was counted exactly
  // once.
  assertEquals(Object.fromEntries(witness.ends), Object.fromEntries(items.map((item) => [item, [1, 2]])));
  assertEquals([witness.wrong, witness.errors], [[], []]);
  assertEquals(await stored.call("ZCARD", "owners"), 0);
});

/** Starts one of the cases of `cases.ts`. */
async function startCase(runtime: Runtime, name: string, ...args: string[]) {
  const [file, ...options] = await runtimes[runtime]!();
  const script = fileURLToPath(new URL("cases.ts", import.meta.url));
  const child = spawn(file!, [...options, script, name, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(line));
  return { pid: child.pid!, lines, ended: once(child, "close").then(([code]) => code) };
}

redisTest("the outcome of a process that was frozen beyond its lease is refused", async ({ url }) => {
  await Promise.all(RUNTIMES.map(async (runtime) => {
    const { name } = newQueue(url);
    await using opened = open(url, name, { leaseDuration: 600 });
    await opened.queue.add("a");
    const { pid, lines, ended } = await startCase(runtime, "late", url, name);
    await until(() => lines.length === 1);
    const next = take(opened.queue);
    process.kill(pid, "SIGSTOP");
    const lease = await next;
    process.kill(pid, "SIGCONT");
    assertEquals(await ended, 0);
    assertEquals(lines, ["processing", "aborted", "false", "1 error"]);
    assertEquals([lease.attempt, await lease.finish({ requeue: true })], [1, true]);
    assertEquals(await opened.queue.numRequeues("a"), 1);
    await (await take(opened.queue)).finish();
  }));
});

redisTest("a process ends by itself after shutDown, and not before, whatever it did", async ({ url }) => {
  await Promise.all(RUNTIMES.map(async (runtime) => {
    const { name, stored } = newQueue(url);
    await using opened = open(url, name, { leaseDuration: 600 });
    await opened.queue.add("a");
    const cases = ["nothing", "many", "delayed", "leaves"];
    const runs = await Promise.all(cases.map((each) => startCase(runtime, each, url, name)));
    assertEquals(await Promise.all(runs.map(({ ended }) => ended)), [0, 0, 0, 3]);
    assertEquals(runs[1]!.lines, ["true"]);
    const lease = await take(opened.queue); // the last case took the item and exited without finishing it
    assertEquals([lease.item, await stored.stalls(), await lease.finish()], ["a", 1, true]);
    assertEquals(await stored.stalls(), 0);
  }));
});
