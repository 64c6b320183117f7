/** Storm of faults around processes that work on queues in one file. */

import { assertEquals } from "@std/assert";
import type { DisciplineConfig } from "@workqueue/core";
import { createSqliteQueue } from "@workqueue/sqlite";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startWorker, type Worker } from "../../redis/faults/process/workers.ts";
import { seeded } from "../../redis/faults/seeded.ts";
import { HAS_NODE } from "../../runtimes.ts";
import { check, type Rules } from "../../redis/history/check.ts";
import { createFolder, readFolder, removeFolder } from "../../redis/history/folder.ts";
import { unsound } from "../sound.ts";
import type { StormArguments } from "./storm_worker.ts";

const WORKER = fileURLToPath(new URL("storm_worker.ts", import.meta.url));
/** Lease duration, in milliseconds. */
const LEASE = 1500;
const MAX_PER_GROUP = 2;
/** Runtime of each process, and whether its database is in a thread. */
const PROCESSES: readonly (readonly [runtime: string, thread: boolean])[] = [
  ["Deno", false],
  ["Bun", false],
  ["Deno", true],
  ["Bun", true],
  [HAS_NODE ? "Node" : "Bun", false],
];

const AGING = { type: "priority", min: 0, max: 3, maxHeadStart: "3s" } as const;
const groupOf = (key: string) => key.split("/", 1)[0]!;
const headStart = (priority: number) => priority * 1000;

/** Queues, with the rules for their histories. */
const QUEUES: readonly { name: string; discipline: DisciplineConfig; rules: Rules }[] = [
  { name: "aging", discipline: AGING, rules: { order: { headStart } } },
  {
    name: "fair",
    discipline: { type: "fair", separator: "/", maxPerGroup: MAX_PER_GROUP, within: AGING },
    rules: { order: { headStart, groupOf }, groups: { groupOf, maxPerGroup: MAX_PER_GROUP } },
  },
];

export interface Storm {
  readonly seed: number;
  /** Duration of the storm, in milliseconds. */
  readonly ms: number;
}

/** Result of a storm. */
export interface Weathered {
  readonly handOuts: number;
  /** Number of faults, by kind. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Process with a number, which is started again when it was killed. */
interface Place {
  worker: Worker;
  isBusy: boolean;
}

/**
 * Lets processes add keys and work on them while they are killed and stopped, and while other programs use the file.
 * After the last key has ended, checks the histories and the tables.
 */
export async function storm({ seed, ms }: Storm): Promise<Weathered> {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const folder = mkdtempSync(join(tmpdir(), "workqueue-storm-"));
  const path = join(folder, "queue.db");
  const queues = QUEUES.map((queue) => ({ ...queue, history: createFolder() }));
  const args = {
    path,
    queues: queues.map(({ name, history, discipline }) => ({ name, history, discipline })),
    leaseDuration: LEASE,
    over: join(folder, "over"),
    errors: join(folder, "errors"),
  };
  const start = async (i: number) => {
    const [runtime, thread] = PROCESSES[i]!;
    const worker = await startWorker(runtime, { ...args, thread } satisfies StormArguments, WORKER);
    await worker.ready;
    return worker;
  };
  const places: Place[] = await Promise.all(PROCESSES.map(async (_, i) => ({ worker: await start(i), isBusy: false })));
  const other = new DatabaseSync(path);

  const tried = (sql: string) => {
    try {
      other.exec(sql);
      return true;
    } catch {
      return false;
    }
  };
  const faults = {
    async kill(place: Place, i: number) {
      place.worker.kill("SIGKILL");
      await place.worker.ended;
      place.worker = await start(i);
    },
    async stop({ worker }: Place) {
      worker.kill("SIGSTOP");
      await delay(2 * LEASE * random());
      worker.kill("SIGCONT");
    },
    async lock() {
      while (!tried("BEGIN IMMEDIATE")) await delay(1); // does not wait by itself, or a stopped process stayed stopped
      await delay(LEASE / 3 * random());
      other.exec("COMMIT");
    },
    async checkpoint() {
      while (!tried("PRAGMA wal_checkpoint(TRUNCATE)")) await delay(1);
    },
  };
  const kinds = ["kill", "kill", "kill", "kill", "stop", "lock", "checkpoint"] as const;
  const counts: Record<string, number> = {};
  try {
    const end = performance.now() + ms;
    const running: Promise<void>[] = [];
    let isLocked = false;
    while (performance.now() < end || running.length < kinds.length) { // at least one of each, on a slow machine too
      await delay(20 + below(150));
      const i = below(places.length);
      const place = places[i]!;
      const kind = kinds[running.length < kinds.length ? running.length : below(kinds.length)]!;
      const isOther = kind === "lock" || kind === "checkpoint";
      if (isOther ? isLocked : place.isBusy) continue;
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (isOther) isLocked = true;
      else place.isBusy = true;
      const fault = faults[kind](place, i).finally(() => {
        if (isOther) isLocked = false;
        else place.isBusy = false;
      });
      fault.catch(() => {}); // reported at the end
      running.push(fault);
    }
    await Promise.all(running);
    writeFileSync(args.over, "");
    for (const { name } of queues) {
      await using queue = createSqliteQueue({ name, path, leaseDuration: LEASE, callTimeout: "1m" });
      await queue.whenIdle();
    }
    for (const { worker } of places) worker.kill("SIGTERM");
    assertEquals(await Promise.all(places.map(({ worker }) => worker.ended)), places.map(() => 0));
  } finally {
    for (const { worker } of places) worker.end();
    other.close();
  }
  assertEquals(existsSync(args.errors) ? readFileSync(args.errors, "utf8") : "", "");
  let handOuts = 0;
  for (const { history, rules } of queues) {
    const verdict = check(readFolder(history), { ...rules, isComplete: true });
    assertEquals(verdict.wrong, [], `the history is in ${history}`);
    handOuts += verdict.handOuts;
    removeFolder(history);
  }
  assertEquals(unsound(path), [], `the file is ${path}`);
  rmSync(folder, { recursive: true });
  return { handOuts, faults: counts };
}
