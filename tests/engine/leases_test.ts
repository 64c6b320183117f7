/** Tests of the leases of a process: how it learns that items were cancelled. */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import type { HandOuts, Renewal } from "@workqueue/engine";
import { Leases } from "../../packages/engine/leases.ts";

/** Engine that answers renewals when the test says so. */
class Renewals {
  readonly settings = { leaseDuration: 30_000 };
  readonly answers: ((news: Renewal | undefined) => void)[] = [];

  renew(): Promise<Renewal | undefined> {
    return new Promise((resolve) => this.answers.push(resolve));
  }
}

class NotedLease {
  readonly hasBegun = true;
  readonly notes: string[] = [];

  constructor(readonly token: bigint) {}

  lose(): void {
    this.notes.push("lost");
  }

  cancel(reason: string): void {
    this.notes.push(reason);
  }

  addAgain(): void {
    this.notes.push("added again");
  }
}

async function withLeases(
  run: (
    engine: Renewals,
    leases: Leases<NotedLease>,
    time: FakeTime,
    one: NotedLease,
    two: NotedLease,
  ) => Promise<void>,
): Promise<void> {
  using time = new FakeTime();
  const engine = new Renewals();
  const leases = new Leases<NotedLease>(engine as unknown as HandOuts, "process");
  const [one, two] = [new NotedLease(1n), new NotedLease(2n)];
  leases.add([one, two], performance.now());
  await run(engine, leases, time, one, two);
  leases.delete(one);
  leases.delete(two);
}

const NO_NEWS: Renewal = { cancelled: [], addedAgain: [] };

Deno.test("leases: without a message, the next renewal tells which items were cancelled", async () => {
  await withLeases(async (engine, _leases, time, one, two) => {
    await time.tickAsync(10_000);
    engine.answers[0]!({
      ...NO_NEWS,
      cancelled: [{ token: "2", reason: "stop" }, { token: "3", reason: "ended meanwhile" }],
    });
    await time.tickAsync(0);
    assertEquals([one.notes, two.notes], [[], ["stop"]]);
    await time.tickAsync(10_000);
    assertEquals(engine.answers.length, 2, "renewals go on");
  });
});

Deno.test("leases: a message during a renewal causes another renewal, because the reply may be too old", async () => {
  await withLeases(async (engine, leases, time, one) => {
    leases.renew();
    leases.renew();
    leases.renew();
    assertEquals(engine.answers.length, 1);
    engine.answers[0]!(NO_NEWS);
    await time.tickAsync(0);
    assertEquals(engine.answers.length, 2);
    engine.answers[1]!({ ...NO_NEWS, cancelled: [{ token: "1", reason: "stop" }] });
    await time.tickAsync(0);
    assertEquals([one.notes, engine.answers.length], [["stop"], 2]);
  });
});

Deno.test("leases: a process without leases does not renew", async () => {
  await withLeases(async (engine, leases, time, one, two) => {
    leases.delete(one);
    leases.delete(two);
    leases.renew();
    await time.tickAsync(30_000);
    assertEquals(engine.answers.length, 0);
  });
});

Deno.test("leases: a message that comes before its lease causes a renewal when the lease comes", async () => {
  await withLeases(async (engine, leases, time, one, two) => {
    leases.delete(one);
    leases.delete(two);
    leases.renew();
    assertEquals(engine.answers.length, 0);
    leases.add([one], performance.now());
    assertEquals(engine.answers.length, 1);
    engine.answers[0]!({ cancelled: [], addedAgain: ["1"] });
    await time.tickAsync(0);
    assertEquals([one.notes, engine.answers.length], [["added again"], 1]);
  });
});
