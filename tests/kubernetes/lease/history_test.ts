/**
 * Random histories of three processes with one lease, under partitions, slow networks, processes that are stopped for a
 * while, and clocks that are wrong. The checker: whenever a process sends a write, the cluster says that it holds the
 * lease. So the writes of two leaders overlap only by requests that are in flight.
 */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { type Clock, systemClock } from "@workqueue/core";
import { type ApiRequest, type ApiResponse, Client, type KubeObject, LeaderLease } from "@workqueue/kubernetes";
import { type FakeCluster, fakeCluster } from "@workqueue/kubernetes/testing";
import { pass } from "../fake_time.ts";

/** Returns the same random numbers from 0 to 1 for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Clock of a process that can be stopped, as by SIGSTOP: its time goes on, and its timers fire when it continues. */
class ProcessClock implements Clock {
  readonly #rate: number;
  readonly #random: () => number;
  #late: (() => void)[] = [];
  #resumed = Promise.resolve();
  #resume = () => {};
  isStopped = false;

  constructor(rate: number, random: () => number) {
    this.#rate = rate;
    this.#random = random;
  }

  now(): number {
    return systemClock.now() * this.#rate + 1e6 / this.#rate;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const timer = { callback, handle: undefined as unknown };
    timer.handle = systemClock.setTimeout(
      () => this.isStopped ? this.#late.push(() => timer.callback()) : timer.callback(),
      ms / this.#rate,
    );
    return timer;
  }

  clearTimeout(timer: unknown): void {
    const { handle } = timer as { callback: () => void; handle: unknown };
    (timer as { callback: () => void }).callback = () => {};
    systemClock.clearTimeout(handle);
  }

  stop(): void {
    this.isStopped = true;
    this.#resumed = new Promise((resolve) => this.#resume = resolve);
  }

  /** Lets the timers fire that are late, in any order, and responses arrive. */
  continue(): void {
    this.isStopped = false;
    const late = this.#late.map((callback) => ({ callback, order: this.#random() }));
    this.#late = [];
    for (const { callback } of late.sort((a, b) => a.order - b.order)) callback();
    this.#resume();
  }

  whenRunning(): Promise<void> {
    return this.#resumed;
  }
}

/** One of the processes. While it holds the lease, it writes five times a second. */
class Process {
  readonly clock: ProcessClock;
  readonly writes: number[] = [];
  acquisitions = 0;
  /** Share of the requests that are lost, before or after their effect. */
  lossRate = 0;
  /** Longest time that a request and its answer need each, in milliseconds. */
  maxDelay = 0;
  readonly #isOver = new AbortController();
  readonly #client: Client;
  readonly #lease: LeaderLease;
  readonly #random: () => number;

  constructor(readonly identity: string, readonly cluster: FakeCluster, rate: number, random: () => number) {
    this.#random = random;
    this.clock = new ProcessClock(rate, random);
    this.#client = new Client({ transport: { send: (request) => this.#send(request), reset() {} } });
    const options = { name: "leader", namespace: "default", identity, clock: this.clock };
    this.#lease = new LeaderLease(this.#client, options);
  }

  async run(): Promise<void> {
    const { signal } = this.#isOver;
    while (!signal.aborted) {
      let isLost = false;
      await this.#lease.acquire(signal, () => isLost = true).then(() => this.acquisitions++, () => isLost = true);
      while (!isLost && !signal.aborted) {
        void this.#write();
        await new Promise<void>((resolve) => this.clock.setTimeout(resolve, 200));
        if (this.#random() < 0.002) break; // it gives the lease back
      }
      await this.#lease.release();
    }
    this.#client.close();
  }

  end(): void {
    this.#isOver.abort(new Error("the history is over"));
  }

  async #write(): Promise<void> {
    const body = { metadata: { generateName: "write-" } };
    const onSent = () => {
      this.#lease.check();
      const lease = this.cluster.get<KubeObject>("coordination.k8s.io/v1", "Lease", "default/leader");
      const { holderIdentity } = (lease as unknown as { spec: { holderIdentity: string } }).spec;
      assertEquals(holderIdentity, this.identity, "the holder of the lease, when a process sends a write");
      this.writes.push(systemClock.now());
    };
    try {
      await this.#client.request("POST", "/api/v1/namespaces/default/configmaps", { body, onSent });
    } catch (error) {
      if ((error as Error).name.includes("Assertion")) failures.push(error as Error);
    }
  }

  async #send(request: ApiRequest): Promise<ApiResponse> {
    await this.#delay();
    if (this.#random() < this.lossRate) await this.#loseOne(request);
    const body = request.body?.replace(/"(renewTime|acquireTime)":"[^"]*?(\d{6}Z)"/g, (_match, field, digits) => {
      const year = 1990 + Math.floor(this.#random() * 60); // the wall clock says anything
      return `"${field}":"${year}-01-01T00:00:${10 + Math.floor(this.#random() * 49)}.${digits}"`;
    });
    const response = await this.cluster.transport.send({ ...request, ...(body !== undefined && { body }) });
    if (this.#random() < this.lossRate) await this.#loseOne(request);
    await this.#delay();
    await this.clock.whenRunning();
    return response;
  }

  async #delay(): Promise<void> {
    const ms = this.#random() * this.maxDelay;
    if (ms > 0) await new Promise<void>((resolve) => systemClock.setTimeout(resolve, ms));
  }

  /** Fails after the timeout of the request. */
  async #loseOne({ idleTimeout }: ApiRequest): Promise<never> {
    await new Promise<void>((resolve) => this.clock.setTimeout(resolve, idleTimeout));
    throw new Error("nothing arrived");
  }
}

const failures: Error[] = [];

for (let seed = 1; seed <= 8; seed++) {
  Deno.test(`history ${seed}: only the holder of the lease sends writes`, async () => {
    using time = new FakeTime();
    failures.length = 0;
    const random = randomNumbers(seed);
    const cluster = fakeCluster();
    const rates = [1, 0.95, 1.05];
    const processes = rates.map((rate, i) => new Process(`process ${i}`, cluster, rate, random));
    const running = processes.map((process) => process.run());
    await pass(time, 5000, 50);
    for (let step = 0; step < 30; step++) {
      for (const process of processes) {
        const luck = random();
        process.lossRate = luck < 0.2 ? 1 : luck < 0.4 ? 0.3 : 0;
        process.maxDelay = random() < 0.4 ? 12_000 * random() : 50;
        if (process.clock.isStopped && random() < 0.5) process.clock.continue();
        else if (!process.clock.isStopped && random() < 0.15) process.clock.stop();
      }
      await pass(time, 1000 + 9000 * random(), 50);
      assertEquals(failures, []);
    }
    for (const process of processes) {
      [process.lossRate, process.maxDelay] = [0, 0];
      if (process.clock.isStopped) process.clock.continue();
    }
    const before = processes.map(({ writes }) => writes.length);
    await pass(time, 60_000, 50);
    assert(processes.some(({ writes }, i) => writes.length > before[i]! + 50), "somebody leads in the end");
    const acquisitions = processes.reduce((sum, { acquisitions }) => sum + acquisitions, 0);
    assert(acquisitions >= 3, `${acquisitions} acquisitions`);
    for (const process of processes) process.end();
    await pass(time, 20_000, 50);
    await Promise.all(running);
    assertEquals(failures, []);
  });
}
