/** Tests of how a process divides its wants among the partitions of a queue. */

import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers";
import { FakeTime } from "@std/testing/time";
import type { Finish, HandOuts, ProcessListener, Renewal, TakenKey, TurnReply, TurnRequest } from "@workqueue/engine";
import type { Want } from "../../packages/engine/dispatcher.ts";
import { HeldLease } from "../../packages/engine/lease.ts";
import { PartitionedDispatcher } from "../../packages/engine/partitioned_dispatcher.ts";

/** Partition with keys `INDEX.NUMBER`. Its replies come when the test's microtasks run, unless it stands still. */
class Partition implements HandOuts {
  readonly settings = {
    name: "q",
    leaseDuration: 30_000,
    maxStalls: 5,
    replaces: false,
    folds: false,
    hasItems: false,
  };
  readonly isConnected = true;
  readonly requests: TurnRequest[] = [];
  readonly finished: string[] = [];
  /** Number of keys that can be handed out. */
  ready = 0;
  suspects = 0;
  holds = 0;
  isStill = false;
  /** Sends the replies that were held back while the partition stood still. */
  readonly held: (() => void)[] = [];
  #wake: ((delay: number) => void) | undefined;
  #next = 0;

  constructor(readonly index: number) {}

  turn(request: TurnRequest): Promise<TurnReply> {
    this.requests.push(request);
    const { finishes, wanted, isBusyElsewhere } = request;
    this.holds -= finishes.length;
    this.finished.push(...finishes.map(({ key }) => key));
    const isAlone = wanted > 0 && this.suspects > 0;
    const isHeld = isBusyElsewhere || this.holds > 0;
    const count = isAlone ? (isHeld ? 0 : 1) : Math.min(wanted, this.ready);
    if (isAlone) this.suspects -= count;
    else this.ready -= count;
    this.holds += count;
    const taken = Array.from({ length: count }, () => this.#key(isAlone ? "suspect" : "key"));
    const answers = finishes.map(() => true);
    const reply = { pauseMs: undefined, isPaused: false, isLost: false, isAlone, answers, taken, givenUp: [] };
    return this.isStill ? new Promise((resolve) => this.held.push(() => resolve(reply))) : Promise.resolve(reply);
  }

  /** Adds keys, and tells the process. */
  add(count: number): void {
    this.ready += count;
    this.#wake?.(0);
  }

  #key(kind: string): TakenKey {
    const number = this.#next++;
    return {
      key: `${this.index}.${kind}${number}`,
      token: `${number}`,
      payload: undefined,
      failures: 0,
      priority: undefined,
      trace: undefined,
      readyForMs: undefined,
    };
  }

  async renew(): Promise<Renewal> {
    return await Promise.resolve({ cancelled: [], addedAgain: [] });
  }

  async release(): Promise<string[]> {
    return await Promise.resolve([]);
  }

  async leave(): Promise<void> {}

  listen(_process: string, { wake }: ProcessListener): Promise<() => void> {
    this.#wake = wake;
    return Promise.resolve(() => {});
  }

  onReconnect(): () => void {
    return () => {};
  }
}

/** Workers of a process: each takes a key, and holds it until the test ends the work. */
class Workers implements Want<string> {
  readonly held: HeldLease<string>[] = [];
  readonly dispatcher: PartitionedDispatcher<string>;
  /** Number of keys of each partition that were taken. */
  readonly taken: number[];

  constructor(readonly partitions: readonly Partition[], public count: number) {
    const indexOf = (key: string) => Number(key.split(".", 1)[0]);
    this.taken = partitions.map(() => 0);
    this.dispatcher = new PartitionedDispatcher({ engines: partitions, indexOf, bucket: "b" }, "process", {
      leaseOf: (taken) =>
        new HeldLease(taken.key, taken, {
          product: "Fake",
          onError: (error) => {
            throw error;
          },
          call: (promise) => promise,
          onNews() {},
          carryOut: async (lease, { kind }) => {
            await this.dispatcher.finish(lease, finishOf(lease, kind));
            return true;
          },
        }),
      onUnreadable: (_taken, error) => {
        throw error;
      },
      onGivenUp() {},
      onFirstWant() {},
      onSettled() {},
      onError: (error) => {
        throw error;
      },
    });
    this.dispatcher.want(this);
  }

  request(): { count: number } {
    return { count: this.count - this.held.length };
  }

  accept(leases: readonly HeldLease<string>[]): void {
    assert(leases.length <= this.request().count, "more leases than were wanted");
    this.held.push(...leases);
    for (const { key } of leases) this.taken[Number(key.split(".", 1)[0])]!++;
  }

  end(): void {}

  /** Ends the work on some keys. */
  done(count = this.held.length): void {
    for (const lease of this.held.splice(0, count)) {
      this.dispatcher.finish(lease, finishOf(lease, "succeeded"));
    }
  }
}

function finishOf({ key, token }: HeldLease<string>, kind: Finish["kind"]): Finish {
  return { key, token: `${token}`, kind };
}

/** Waits until the calls of a process have been answered. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Makes the clock that measures periods follow the fake time. */
function fakePerformance(): Disposable {
  const { now } = performance;
  performance.now = () => Date.now();
  return { [Symbol.dispose]: () => void (performance.now = now) };
}

async function test(
  partitions: number,
  workers: number,
  run: (partitions: Partition[], workers: Workers, time: FakeTime) => Promise<void>,
): Promise<void> {
  using time = new FakeTime();
  using _clock = fakePerformance();
  const all = Array.from({ length: partitions }, (_, i) => new Partition(i));
  const process = new Workers(all, workers);
  await settle();
  try {
    await run(all, process, time);
  } finally {
    process.dispatcher.close();
  }
}

const keysOf = (workers: Workers) => workers.held.map(({ key }) => key);

Deno.test("partitions: one worker gets keys of each partition, and most outcomes need no call of their own", async () => {
  await test(4, 1, async (partitions, workers) => {
    for (const partition of partitions) partition.add(1000);
    await settle();
    const before = partitions.flatMap(({ requests }) => requests).length;
    for (let i = 0; i < 400; i++) {
      assertEquals(workers.held.length, 1);
      workers.done();
      await settle();
    }
    for (const count of workers.taken) assert(Math.abs(count - 100) <= 10, `${workers.taken}`);
    const calls = partitions.flatMap(({ requests }) => requests).length - before;
    assert(calls < 500, `${calls} calls for 400 keys`);
    assertEquals(partitions.flatMap(({ finished }) => finished).length, 400);
  });
});

Deno.test("partitions: all calls together ask for at most the wanted number, and take everything ready", async () => {
  await test(16, 10, async (partitions, workers) => {
    partitions[3]!.add(4);
    partitions[9]!.add(4);
    await settle();
    assertEquals(keysOf(workers).length, 8);
    for (const partition of partitions) partition.add(1);
    await settle();
    assertEquals(keysOf(workers).length, 10);
    while (workers.held.length > 0) {
      workers.done();
      await settle();
    }
    assertEquals(workers.taken.reduce((sum, count) => sum + count), 24);
    assertEquals(partitions.flatMap(({ finished }) => finished).length, 24, "nothing was handed back");
  });
});

Deno.test("partitions: a partition that had no work is asked again after a message", async () => {
  await test(3, 2, async (partitions, workers) => {
    for (let i = 0; i < 30; i++) {
      const partition = partitions[i % 3]!;
      partition.add(1);
      await settle();
      assertEquals(workers.held.length, 1, `round ${i}`);
      workers.done();
      await settle();
    }
  });
});

Deno.test("partitions: a partition that was empty for a while is neither ahead nor behind when it has work again", async () => {
  await test(2, 1, async ([quiet, busy], workers) => {
    const work = async (rounds: number) => {
      for (let i = 0; i < rounds; i++) {
        workers.done();
        await settle();
      }
    };
    quiet!.add(1); // it is short from then on, while the other has no work either
    await settle();
    await work(1);
    busy!.add(500);
    await settle();
    await work(100);
    quiet!.add(500);
    await settle();
    const before = [...workers.taken];
    await work(100);
    const [ofQuiet, ofBusy] = workers.taken.map((count, i) => count - before[i]!) as [number, number];
    assert(Math.abs(ofQuiet - ofBusy) <= 2 * 8, `${ofQuiet} and ${ofBusy}`);
  });
});

Deno.test("partitions: a partition that doesn't reply delays the others for 100 ms at most", async () => {
  await test(3, 2, async (partitions, workers, time) => {
    partitions[1]!.isStill = true;
    for (const partition of partitions) partition.add(100);
    let rounds = 0;
    for (let i = 0; i < 20; i++) {
      await time.tickAsync(50);
      await settle();
      if (workers.held.length > 0) rounds++;
      workers.done();
    }
    assert(rounds >= 16, `${rounds} rounds of 20 had work`);
    assert(workers.taken[0]! > 4 && workers.taken[2]! > 4, `${workers.taken}`);
  });
});

/** Returns two partitions, of which the first has taken a key for a worker and not replied in time. */
async function lateTest(
  run: (late: Partition, other: Partition, workers: Workers, time: FakeTime) => Promise<void>,
): Promise<void> {
  await test(2, 1, async ([late, other], workers, time) => {
    late!.isStill = true;
    late!.add(1);
    await settle();
    await time.tickAsync(150);
    other!.add(10);
    await settle();
    assertEquals(keysOf(workers), ["1.key0"], "the other one is asked");
    late!.isStill = false;
    for (const reply of late!.held.splice(0)) reply();
    await settle();
    await run(late!, other!, workers, time);
  });
}

Deno.test("partitions: a key of a late reply waits for a worker, so that no later key overtakes it", async () => {
  await lateTest(async (late, other, workers, time) => {
    await time.tickAsync(4000);
    await settle();
    workers.done();
    await settle();
    assertEquals(workers.held, []);
    workers.dispatcher.want(workers);
    await settle();
    assertEquals([keysOf(workers), late.finished, other.finished], [["0.key0"], [], ["1.key0"]]);
  });
});

Deno.test("partitions: a key of a late reply for which there is no worker is finally handed back", async () => {
  await lateTest(async (late, _other, workers, time) => {
    await time.tickAsync(4900);
    await settle();
    assertEquals(late.finished, []);
    await time.tickAsync(200);
    await settle();
    assertEquals([late.finished, keysOf(workers)], [["0.key0"], ["1.key0"]]);
  });
});

Deno.test("partitions: a key of a late reply is handed back when the process takes no more keys", async () => {
  await lateTest(async (late, _other, workers) => {
    workers.dispatcher.close();
    await settle();
    assertEquals(late.finished, ["0.key0"]);
  });
});

Deno.test("partitions: a suspect runs alone in its process, and others wait until its work has ended", async () => {
  await test(3, 4, async (partitions, workers, time) => {
    partitions[0]!.add(2);
    await settle();
    partitions[1]!.suspects = 1;
    partitions[1]!.add(0);
    await settle();
    for (const partition of partitions) partition.add(50);
    await settle();
    assertEquals(keysOf(workers), ["0.key0", "0.key1"], "nothing else begins before the suspect");
    workers.done(1);
    await settle();
    assertEquals(keysOf(workers), ["0.key1"]);
    workers.done(1);
    await settle();
    assertEquals(keysOf(workers), ["1.suspect0"]);
    await time.tickAsync(20_000);
    await settle();
    assertEquals(keysOf(workers), ["1.suspect0"]);
    workers.done();
    await settle();
    assertEquals(workers.held.length, 4);
  });
});

Deno.test("partitions: if nothing is wanted for a while, the partitions are told, and told again when workers want work", async () => {
  await test(2, 1, async (partitions, workers, time) => {
    workers.dispatcher.unwant(workers);
    await time.tickAsync(50);
    await settle();
    assertEquals(partitions.map(({ requests }) => requests.at(-1)!.wanted), [0, 0]);
    for (const partition of partitions) partition.ready = 1; // no message: the process is not idle
    workers.dispatcher.want(workers);
    await settle();
    assertEquals(workers.held.length, 1);
  });
});
