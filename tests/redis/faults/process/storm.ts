/** Storm of faults around processes that work on queues with priorities and groups. */

import { assertEquals } from "@std/assert";
import type { DisciplineConfig } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Rules } from "../../history/check.ts";
import { open, type Opened } from "../faults.ts";
import { seeded } from "../seeded.ts";
import { type Site, startCluster, startSentinel, startServer, type Way } from "./sites.ts";
import type { StormArguments } from "./storm_worker.ts";
import { startWorker, type Worker } from "./workers.ts";

const WORKER = fileURLToPath(new URL("storm_worker.ts", import.meta.url));
/** Lease duration, in milliseconds. */
const LEASE = 1500;
const GROUPS = 12;
const MAX_PER_GROUP = 2;
/** Number of ready keys at which the producer pauses. */
const ENOUGH = 500;

const AGING = { type: "priority", min: 0, max: 3, maxHeadStart: "3s" } as const;
const groupOf = (key: string) => key.split("/", 1)[0]!;

const headStart = (priority: number) => priority * 1000;

const ROUND = {
  discipline: { type: "fair", separator: "/", maxPerGroup: MAX_PER_GROUP, within: AGING },
  rules: { order: { headStart, groupOf }, groups: { groupOf, maxPerGroup: MAX_PER_GROUP } },
} as const;
/** Queues with the rules for the history of each of their partitions. */
const QUEUES: readonly { discipline: DisciplineConfig; rules: Rules; partitions: number }[] = [
  { discipline: AGING, rules: { order: { headStart } }, partitions: 1 },
  { ...ROUND, partitions: 1 },
  { ...ROUND, partitions: 4 },
];

export interface Storm {
  readonly seed: number;
  /** Duration of the storm, in milliseconds. */
  readonly ms: number;
  readonly processes: number;
  readonly site: keyof typeof SITES;
}

const SITES = { server: startServer, cluster: startCluster, sentinel: startSentinel } as const;

/** Result of a storm. */
export interface Weathered {
  readonly handOuts: number;
  /** Number of faults, by kind. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Place of a process, with its way to the servers. */
interface Place {
  readonly way: Way;
  worker: Worker;
  isBusy: boolean;
}

/**
 * Adds keys while processes are killed, stopped, cut off, delayed and confused about the time, and while their servers
 * suffer. Checks the histories of the queues after the last key has ended.
 */
export async function storm({ seed, ms, processes, site: kind }: Storm): Promise<Weathered> {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  await using site: Site = await SITES[kind]();
  await using stack = new AsyncDisposableStack();
  const queues = await Promise.all(QUEUES.map(async ({ discipline, rules, partitions }, i) => {
    const name = await site.nameQueue(i);
    const options = { url: undefined, ...site.at, discipline, partitions, callTimeout: "1m" } as const;
    return { name, discipline, rules, partitions, opened: stack.use(open("", name, options)) };
  }));
  const start = (i: number, { at }: Way) => {
    const args: StormArguments = {
      at,
      leaseDuration: LEASE,
      queues: queues.map(({ name, discipline, partitions, opened }) => {
        return { name, discipline, partitions, histories: opened.histories.map(({ folder }) => folder) };
      }),
    };
    return startWorker(i % 2 === 0 ? "Deno" : "Bun", args, WORKER);
  };
  const places: Place[] = await Promise.all(Array.from({ length: processes }, async (_, i) => {
    const way = await site.openWay();
    return { way, worker: await start(i, way), isBusy: false };
  }));
  stack.defer(() => places.forEach(({ worker }) => worker.end()));
  await Promise.all(places.map(({ worker }) => worker.ready));

  const faults = {
    async kill(place: Place, i: number) {
      place.worker.kill("SIGKILL");
      await place.worker.ended;
      place.worker = await start(i, place.way);
      await place.worker.ready;
    },
    async stop({ worker }: Place) {
      worker.kill("SIGSTOP");
      await delay(2 * LEASE * random());
      worker.kill("SIGCONT");
    },
    cut: ({ way }: Place) => way.cut(random() < 0.5 ? 0 : 2 * LEASE * random()),
    delay: ({ way }: Place) => way.delay(2 * LEASE * random()),
    step: ({ worker }: Place) => Promise.resolve(worker.kill("SIGUSR2")),
  };
  const kinds = ["kill", "stop", "cut", "delay", "step", "stop", "cut", "delay"] as const;
  const counts: Record<string, number> = {};
  const end = performance.now() + ms;
  const count = (fault: string) => void (counts[fault] = (counts[fault] ?? 0) + 1);
  const hitPlaces = async () => {
    const running: Promise<void>[] = [];
    while (performance.now() < end || running.length < kinds.length) { // at least one of each, on a slow machine too
      await delay(20 + below(150));
      const i = below(processes);
      const place = places[i]!;
      if (place.isBusy) continue;
      const nth = running.length;
      const kind = kinds[nth < kinds.length ? nth : below(kinds.length)]!;
      count(kind);
      place.isBusy = true;
      const fault = faults[kind](place, i).finally(() => place.isBusy = false);
      fault.catch(() => {}); // reported at the end
      running.push(fault);
    }
    await Promise.all(running);
  };
  const names = queues.map(({ name }) => name);
  const producing = queues.map(({ opened }) => produce(opened, end, below));
  await Promise.all([hitPlaces(), site.suffer(names, end, random, count), ...producing]);
  for (const { opened } of queues) await opened.queue.whenIdle();

  for (const { worker } of places) worker.kill("SIGTERM");
  assertEquals(await Promise.all(places.map(({ worker }) => worker.ended)), places.map(() => 0));
  const handOuts = queues.flatMap(({ opened, rules }) => {
    return opened.histories.map((history) => history.check({ ...rules, isComplete: true }));
  });
  return { handOuts: handOuts.reduce((sum, count) => sum + count), faults: counts };
}

/** Adds keys to a queue until a time: new ones, and a few that are added again and again. */
async function produce({ queue }: Opened, end: number, below: (limit: number) => number): Promise<void> {
  let added = 0;
  while (performance.now() < end) {
    const { ready, blocked } = await queue.counts();
    if (ready + blocked < ENOUGH) {
      await Promise.all([0, 1, 2, 3].map((priority) => {
        const keys = Array.from({ length: 100 }, () => {
          const group = `group ${below(GROUPS)}`;
          return below(4) === 0 ? `${group}/again ${below(3)}` : `${group}/new ${added++}`;
        });
        return queue.addAll(keys, { priority, ...below(5) === 0 && { delay: below(300) } });
      }));
    }
    await delay(10);
  }
}
