/** Storm of faults around processes that work on queues with priorities and groups. */

import { assertEquals } from "@std/assert";
import type { DisciplineConfig } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Rules } from "../../history/check.ts";
import { RedisProxy } from "../../proxy.ts";
import { RedisServer } from "../../server.ts";
import { newQueue, open, type Opened, until } from "../faults.ts";
import { seeded } from "../seeded.ts";
import type { StormArguments } from "./storm_worker.ts";
import { startWorker, type Worker } from "./workers.ts";

const WORKER = fileURLToPath(new URL("storm_worker.ts", import.meta.url));
/** Lease duration, in milliseconds. */
const LEASE = 1500;
const PROCESSES = 8;
const GROUPS = 12;
const MAX_PER_GROUP = 2;
/** Number of ready keys at which the producer pauses. */
const ENOUGH = 500;

const AGING = { type: "priority", min: 0, max: 3, maxHeadStart: "3s" } as const;
const groupOf = (key: string) => key.split("/", 1)[0]!;

/** The order isn't checked, because keys whose hand-out was lost come back out of order. */
const QUEUES: readonly { discipline: DisciplineConfig; rules: Rules }[] = [
  { discipline: AGING, rules: {} },
  {
    discipline: { type: "fair", separator: "/", maxPerGroup: MAX_PER_GROUP, within: AGING },
    rules: { groups: { groupOf, maxPerGroup: MAX_PER_GROUP } },
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

/** Process with its own way to the server. */
interface Place {
  readonly proxy: RedisProxy;
  worker: Worker;
  isBusy: boolean;
}

/**
 * Adds keys while processes are killed, stopped, cut off, delayed and confused about the time, and while the server
 * restarts. Checks the histories of the queues after the last key has ended.
 */
export async function storm({ seed, ms }: Storm): Promise<Weathered> {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  await using server = await RedisServer.start({ appendonly: true });
  await using stack = new AsyncDisposableStack();
  const queues = QUEUES.map(({ discipline, rules }) => {
    const { name } = newQueue(server.url);
    return { name, discipline, rules, opened: stack.use(open(server.url, name, { discipline, callTimeout: "1m" })) };
  });
  const start = (i: number, url: string) => {
    const args: StormArguments = {
      url,
      leaseDuration: LEASE,
      queues: queues.map(({ name, discipline, opened }) => ({ name, discipline, history: opened.history.folder })),
    };
    return startWorker(i % 2 === 0 ? "Deno" : "Bun", args, WORKER);
  };
  const places: Place[] = await Promise.all(Array.from({ length: PROCESSES }, async (_, i) => {
    const proxy = stack.use(await RedisProxy.start(server.url));
    return { proxy, worker: await start(i, proxy.url), isBusy: false };
  }));
  await Promise.all(places.map(({ worker }) => worker.ready));

  const faults: Record<string, (place: Place, i: number) => Promise<void>> = {
    async kill(place, i) {
      place.worker.kill("SIGKILL");
      await place.worker.ended;
      place.worker = await start(i, place.proxy.url);
      await place.worker.ready;
    },
    async stop({ worker }) {
      worker.kill("SIGSTOP");
      await delay(2 * LEASE * random());
      worker.kill("SIGCONT");
    },
    async cut({ proxy }) {
      proxy.refuse();
      proxy.dropAll();
      await delay(random() < 0.5 ? 0 : 2 * LEASE * random());
      proxy.refuse(false);
    },
    async delay({ proxy }) {
      proxy.holdReplies();
      await delay(2 * LEASE * random());
      proxy.holdReplies(false);
    },
    async step({ worker }) {
      worker.kill("SIGUSR2");
      await Promise.resolve();
    },
  };
  const kinds = ["kill", "stop", "stop", "cut", "cut", "delay", "delay", "step"];
  const counts: Record<string, number> = {};
  const end = performance.now() + ms;
  const count = (kind: string) => counts[kind] = (counts[kind] ?? 0) + 1;
  const hitPlaces = async () => {
    const running = new Set<Promise<void>>();
    while (performance.now() < end) {
      await delay(20 + below(150));
      const i = below(PROCESSES);
      const kind = kinds[below(kinds.length)]!;
      const place = places[i]!;
      if (place.isBusy) continue;
      count(kind);
      place.isBusy = true;
      const fault = faults[kind]!(place, i).finally(() => {
        running.delete(fault);
        place.isBusy = false;
      });
      running.add(fault);
    }
    await Promise.all(running);
  };
  const restart = async () => {
    for (let wait = ms / 4; performance.now() + wait < end; wait = Math.max(ms / 2, 5000)) {
      await delay(wait);
      count("restart");
      await server.kill("SIGKILL");
      await delay(LEASE * random());
      await server.start();
      // A server that is killed while it writes a script to its file may keep a part, which the second start from then
      // on runs as if it were the whole (https://github.com/valkey-io/valkey/pull/4342). So the file is written anew.
      await server.call("BGREWRITEAOF");
      await until(async () => /aof_rewrite_in_progress:0/.test(String(await server.call("INFO", "persistence"))));
    }
  };
  await Promise.all([hitPlaces(), restart(), ...queues.map(({ opened }) => produce(opened, end, below))]);
  for (const { opened } of queues) await opened.queue.whenIdle();

  for (const { worker } of places) worker.kill("SIGTERM");
  assertEquals(await Promise.all(places.map(({ worker }) => worker.ended)), places.map(() => 0));
  const handOuts = queues.map(({ opened, rules }) => opened.history.check({ ...rules, isComplete: true }));
  return { handOuts: handOuts.reduce((sum, count) => sum + count), faults: counts };
}

/** Adds keys to a queue until a time: new ones, and a few that are added again and again. */
async function produce({ queue }: Opened, end: number, below: (limit: number) => number): Promise<void> {
  let added = 0;
  while (performance.now() < end) {
    const { ready, blocked } = await queue.counts();
    if (ready + blocked < ENOUGH) {
      for (let priority = 0; priority < 4; priority++) {
        const keys = Array.from({ length: 25 }, () => {
          const group = `group ${below(GROUPS)}`;
          return below(4) === 0 ? `${group}/again ${below(3)}` : `${group}/new ${added++}`;
        });
        await queue.addAll(keys, { priority, ...below(5) === 0 && { delay: below(300) } });
      }
    }
    await delay(10);
  }
}
