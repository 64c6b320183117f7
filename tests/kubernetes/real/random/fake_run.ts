/** A random run against the cluster for tests, in fake time: it takes seconds instead of minutes. */

import { FakeTime } from "@std/testing/time";
import { Client, Manager } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import { setImmediate } from "node:timers";
import type { Stored } from "../admin.ts";
import type { ControllerEvent } from "../controller_process.ts";
import { greet, type Greeter } from "../greet.ts";
import { faultsOf } from "../greetings.ts";
import { randomNumbers } from "../../../queue_helpers.ts";
import { Actions } from "./actions.ts";
import { check } from "./check.ts";
import { FaultyTransport } from "./faulty_transport.ts";
import type { History } from "./history.ts";
import type { RunResult } from "./run.ts";

const REPLICAS = 2;
const LEASE_DURATION = 5000;
const WORK = 200;
/** Time in milliseconds that each part of an answer takes to a controller. The actions of others take none. */
const LATENCY = 3;
const SOON = 120_000;
const QUIET = 30_000;
const LOOK_AGAIN = 500;

/** Controller that runs in this process as if it were another one. */
class Replica {
  readonly events: ControllerEvent[] = [];
  readonly transport: FaultyTransport;
  readonly greeter: Greeter;
  readonly ended: Promise<void>;
  hasEnded = false;
  readonly #stop = new AbortController();

  constructor(transport: FaultyTransport, random: () => number) {
    this.transport = transport;
    transport.latency = LATENCY;
    const say = (event: string, more: Record<string, unknown> = {}) => {
      if (!transport.isDead) this.events.push({ event, at: Date.now(), ...more });
    };
    const manager = new Manager({
      name: "greeter",
      client: new Client({ transport }),
      lease: { name: "greeter", namespace: "default", duration: LEASE_DURATION },
      onError: (error, ...where) => {
        const { message, stack } = error as Error;
        say("error", { message: `${where.join(" ")} ${message} ${error instanceof TypeError ? stack : ""}` });
      },
    });
    const work = () => new Promise<void>((resolve) => setTimeout(resolve, WORK * random()));
    this.greeter = greet(manager, say, { requeueAfter: "10h", work });
    this.ended = manager.run(this.#stop.signal).then(
      () => say("ended"),
      (error) => say("ended", { message: error.message, code: error.code }),
    ).then(() => {
      this.hasEnded = true;
    });
  }

  /** Ends the process at once: nothing that it does from now on has an effect. */
  kill(): void {
    this.transport.isDead = true;
    this.transport.close();
    this.hasEnded = true;
    this.#stop.abort();
  }

  async terminate(): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }

  heal(): void {
    this.transport.cut(false);
    this.transport.refuse(false);
    this.transport.latency = LATENCY;
    this.transport.failures.length = 0;
  }
}

/** Lets fake time pass until a promise is settled. */
async function drive<R>(time: FakeTime, promise: Promise<R>): Promise<R> {
  let isSettled = false;
  const settled = promise.finally(() => isSettled = true);
  settled.catch(() => {});
  while (!isSettled) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (!isSettled && !time.next()) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return await settled;
}

/** Runs controllers for some seconds of fake time. */
export async function fakeRun(seed: number, seconds: number): Promise<RunResult> {
  using time = new FakeTime(0);
  return await drive(time, run(seed, seconds));
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function run(seed: number, seconds: number): Promise<RunResult> {
  const random = randomNumbers(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const some = () => 500 + pick(5000);
  const cluster = fakeCluster({ watchList: seed % 3 !== 0 });
  const send = (method: string, path: string, body?: unknown, contentType?: string) =>
    cluster.client.request<Stored>(method, path, {
      ...body !== undefined && { body },
      ...contentType !== undefined && { contentType },
    });
  const actions = new Actions(send, random);
  const replicas: Replica[] = [];
  const running = () => replicas.filter(({ hasEnded }) => !hasEnded);
  const start = () => void replicas.push(new Replica(new FaultyTransport(cluster.transport), random));
  for (let i = 0; i < REPLICAS; i++) start();

  const struck: string[] = [];
  let isServerAway = false;
  const faults: Readonly<Record<string, (replica: Replica) => Promise<void> | void>> = {
    close: ({ transport }) => transport.close(),
    closeOften: async ({ transport }) => {
      for (let i = 0; i < 5; i++) {
        transport.close();
        await delay(200 + pick(800));
      }
    },
    halfOpen: ({ transport }) => transport.halfOpen(),
    cut: async ({ transport }) => {
      transport.cut();
      await delay(2 * some());
      transport.cut(false);
    },
    refuse: async ({ transport }) => {
      transport.refuse();
      await delay(some());
      transport.refuse(false);
    },
    slow: async ({ transport }) => {
      transport.latency = 50 + pick(300);
      await delay(some());
      transport.latency = LATENCY;
    },
    kill: (replica) => replica.kill(),
    terminate: (replica) => replica.terminate(),
    restart: async () => {
      isServerAway = true;
      cluster.stop();
      await delay(some());
      cluster.start();
      isServerAway = false;
    },
    expire: () => cluster.expireWatches(),
    expireAway: async ({ transport }) => {
      transport.refuse();
      await delay(some());
      cluster.compact();
      transport.refuse(false);
    },
    fail: ({ transport: { failures } }) => {
      const all = [409, 429, 500, 503, "drop", "lose"] as const;
      for (let i = pick(4); i >= 0; i--) failures.push(all[pick(all.length)]!);
    },
  };
  const end = Date.now() + seconds * 1000;
  async function strike(): Promise<void> {
    while (Date.now() < end) {
      await delay(500 + pick(2500));
      const names = Object.keys(faults);
      const name = names[pick(names.length)]!;
      const targets = running();
      const replica = targets[pick(targets.length)];
      if (replica !== undefined) {
        struck.push(name);
        await faults[name]!(replica);
      }
      while (running().length < REPLICAS) start();
    }
  }
  async function act(): Promise<void> {
    while (Date.now() < end) {
      await delay(pick(300));
      if (!isServerAway) await actions.act().catch(() => {}); // a fault may have met it
    }
  }
  await Promise.all([strike(), strike(), act()]);

  for (const replica of running()) replica.heal();
  await actions.release();
  const list = (kind: string) => cluster.list("v1", kind, { labelSelector: "greet=yes" }) as unknown as Stored[];
  const stored = (): [Stored[], Stored[]] => [list("ConfigMap"), list("Secret")];
  const untilInOrder = async () => {
    const begin = Date.now();
    while (faultsOf(...stored()).length > 0 && Date.now() < begin + SOON) await delay(LOOK_AGAIN);
  };
  await untilInOrder();
  // A process that begins later doesn't know that a label is gone.
  await Promise.all(running().flatMap(({ greeter: { configMaps, secrets } }) => [configMaps.synced, secrets.synced]));
  await actions.unlabel();
  await untilInOrder();
  await delay(QUIET / 2);
  const last = stored();
  await delay(QUIET);
  const history: History = {
    actions: actions.done,
    processes: replicas.map(({ events }) => ({ events, wasFrozen: false })),
    faults: struck,
    end: last,
    later: stored(),
    cached: running().map(({ greeter }) => greeter.cached()),
  };
  for (const replica of running()) replica.kill();
  await delay(SOON);
  return { complaints: check(history), history };
}
