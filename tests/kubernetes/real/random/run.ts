/** A run on a real API server, in which everything fails at random. */

import { setTimeout as delay } from "node:timers/promises";
import type { Stored } from "../admin.ts";
import { Cluster } from "../cluster.ts";
import { stored, untilInOrder } from "../greetings.ts";
import { randomNumbers } from "../../../queue_helpers.ts";
import { Actions } from "./actions.ts";
import { check, wrongCaches } from "./check.ts";
import type { History } from "./history.ts";
import { Replica } from "./replica.ts";

const NAMESPACE = "default";
const REPLICAS = 2;
/** Longest time in milliseconds from the end of the faults until everything is in order. */
const SOON = 120_000;
/** Longest time in milliseconds until a replica without the lease notices that its connections are half-open. */
const HALF_OPEN = 60_000;
/** Time in which nothing must change after that. */
const QUIET = 3000;

/** Result of a run. */
export interface RunResult {
  readonly complaints: readonly string[];
  readonly history: History;
}

/** Runs controllers on a runtime for some seconds, with actions and faults that depend on the seed. */
export async function randomRun(runtime: string, seed: number, seconds: number): Promise<RunResult> {
  const random = randomNumbers(seed);
  const pick = (count: number) => Math.floor(random() * count);
  await using cluster = await Cluster.start();
  const send = (method: string, path: string, body?: unknown, type?: string) =>
    cluster.admin.request<Stored>(method, path, body, type);
  const actions = new Actions(send, random);
  await using stack = new AsyncDisposableStack();
  const replicas: Replica[] = [];
  const running = () => replicas.filter(({ process }) => !process.hasEnded);
  const start = async () => void replicas.push(stack.use(await Replica.start(runtime, cluster)));
  for (let i = 0; i < REPLICAS; i++) await start();
  await replicas[0]!.process.saw("synced");

  const struck: string[] = [];
  const some = () => 500 + pick(5000);
  let isServerAway = false;
  let restarts: Promise<void> = Promise.resolve(); // one after the other
  const restartServer = (compacts: boolean) =>
    restarts = restarts.then(async () => {
      isServerAway = true;
      if (compacts) await cluster.compact();
      await cluster.api.restart();
      isServerAway = false;
    });
  const faults: Readonly<Record<string, (replica: Replica) => Promise<void> | void>> = {
    close: ({ proxy }) => proxy.close(),
    closeOften: async ({ proxy }) => {
      proxy.closeEvery(200 + pick(1000));
      await delay(some());
      proxy.closeEvery(0);
    },
    halfOpen: ({ proxy }) => proxy.halfOpen(),
    cut: async ({ proxy }) => {
      proxy.cut();
      await delay(2 * some());
      proxy.cut(false);
    },
    refuse: async ({ proxy }) => {
      proxy.refuse();
      await delay(some());
      proxy.refuse(false);
    },
    slow: async ({ proxy }) => {
      proxy.slow(50 + pick(300));
      await delay(some());
      proxy.slow(0);
    },
    freeze: async (replica) => {
      replica.wasFrozen = true;
      replica.process.signal("SIGSTOP");
      await delay(2 * some());
      replica.process.signal("SIGCONT");
    },
    kill: async ({ process }) => void await process.end("SIGKILL"),
    terminate: async ({ process }) => void await process.end("SIGTERM"),
    restart: async () => await restartServer(false),
    expire: async ({ proxy }) => {
      proxy.refuse();
      await delay(some()); // objects change meanwhile
      await restartServer(true);
      proxy.refuse(false);
    },
  };

  const end = performance.now() + seconds * 1000;
  async function strike(): Promise<void> {
    while (performance.now() < end) {
      await delay(500 + pick(2500));
      const names = Object.keys(faults);
      const name = names[pick(names.length)]!;
      const targets = running();
      const replica = targets[pick(targets.length)];
      if (replica !== undefined) {
        struck.push(name);
        await faults[name]!(replica);
      }
      while (running().length < REPLICAS) await start();
    }
  }
  async function act(): Promise<void> {
    while (performance.now() < end) {
      await delay(pick(300));
      while (isServerAway) await delay(100);
      await actions.act().catch((error) => {
        if (!isServerAway) throw error;
      });
    }
  }
  await Promise.all([strike(), strike(), act()]);

  for (const replica of running()) replica.heal();
  await cluster.api.process.ready(() => cluster.admin.isReady());
  await actions.release();
  const complaints: string[] = [];
  await untilInOrder(cluster.admin, NAMESPACE, undefined, SOON).catch((error) => complaints.push(error.message));
  // A process that begins later doesn't know that a label is gone.
  await Promise.allSettled(running().map(({ process }) => process.saw("synced")));
  await actions.unlabel();
  await untilInOrder(cluster.admin, NAMESPACE, undefined, SOON).catch((error) => complaints.push(error.message));
  await delay(QUIET); // events of the last writes arrive
  const last = await stored(cluster.admin, NAMESPACE);
  await delay(QUIET);
  const later = await stored(cluster.admin, NAMESPACE);
  const cachesNow = async () =>
    (await Promise.allSettled(running().map(({ process }) => process.cached())))
      .flatMap((cache) => cache.status === "fulfilled" ? [cache.value] : []);
  const noticed = performance.now() + HALF_OPEN;
  let cached = await cachesNow();
  while (wrongCaches({ later, cached }).length > 0 && performance.now() < noticed) {
    await delay(1000);
    cached = await cachesNow();
  }
  const history: History = {
    actions: actions.done,
    processes: replicas.map(({ process: { events }, wasFrozen }) => ({ events, wasFrozen })),
    faults: struck,
    end: last,
    later,
    cached,
  };
  return { complaints: [...complaints, ...check(history)], history };
}
