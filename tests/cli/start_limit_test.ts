import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { StartLimit } from "../../packages/cli/children/start_limit.ts";

const shortage = (code = "EMFILE") => Object.assign(new Error(code), { code });

/** Simulated system with a maximum number of processes. */
class System {
  tries = 0;
  readonly #slots: number[] = [];
  constructor(public room: number, readonly code = "EMFILE") {}

  get running(): number {
    return this.#slots.length;
  }

  start = (slot: number): Promise<number> => {
    this.tries++;
    assert(!this.#slots.includes(slot), `slot ${slot} is in use`);
    if (this.running >= this.room) return Promise.reject(shortage(this.code));
    return Promise.resolve(this.#slots.push(slot));
  };

  /** Ends a process. Returns its slot. */
  end(): number {
    return this.#slots.shift()!;
  }
}

/** Lets promises settle. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

/** Lets time pass in steps, because each pause starts only after the previous pause has ended. */
async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await time.tickAsync(100);
  await time.runMicrotasks();
}

for (const code of ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]) {
  Deno.test(`start limit: after ${code}, fewer commands run at once, and those that did not start are started later`, async () => {
    const system = new System(4, code);
    const reported: unknown[] = [];
    const limit = new StartLimit(() => 10, (error) => reported.push(error));
    const { signal } = new AbortController();
    let started = 0;
    for (let i = 0; i < 10; i++) limit.start(system.start, signal).then(() => started++);
    await settle();
    assertEquals([started, system.running, limit.running], [4, 4, 4]);
    assertEquals(limit.limit, 3, "below what it could bear");
    assertEquals(reported.length, 6);

    while (system.running > 0) {
      limit.end(system.end());
      await settle();
    }
    assertEquals([started, limit.running], [10, 0]);
  });
}

Deno.test("start limit: the limit rises again when there is room", async () => {
  const system = new System(2);
  const limit = new StartLimit(() => 8, () => {});
  const { signal } = new AbortController();
  const starts = Array.from({ length: 200 }, () => limit.start(system.start, signal));
  await settle();
  assertEquals(limit.limit, 1);
  system.room = 100;
  let most = 0;
  while (limit.running > 0) {
    most = Math.max(most, system.running);
    limit.end(system.end());
    await settle();
  }
  await Promise.all(starts);
  assertEquals([most, limit.limit], [8, 8]);
});

Deno.test("start limit: other errors are passed on, and do not lower the limit", async () => {
  const limit = new StartLimit(() => 1, () => {});
  const { signal } = new AbortController();
  await assertRejects(() => limit.start(() => Promise.reject(shortage("ENOENT")), signal), Error, "ENOENT");
  assertEquals(limit.running, 0);
  assertEquals(await limit.start(() => Promise.resolve("started"), signal), "started");
});

Deno.test("start limit: while nothing runs, it retries for a while, and finally gives up", async () => {
  using time = new FakeTime();
  const system = new System(0);
  const limit = new StartLimit(() => 3, () => {});
  const { signal } = new AbortController();
  const first = limit.start(system.start, signal);
  await pass(time, 2000);
  assertEquals(limit.running, 1, "one tries, and nobody else");
  system.room = 1;
  await pass(time, 1000);
  assertEquals(await first, 1);

  system.room = 0;
  limit.end(system.end());
  const second = assertRejects(() => limit.start(system.start, signal), Error, "EMFILE");
  await pass(time, 60_000);
  await second;
  assertEquals(limit.running, 0);
});

Deno.test("start limit: a signal ends every wait, and nothing is started after it", async () => {
  using _time = new FakeTime();
  const system = new System(1);
  const limit = new StartLimit(() => 1, () => {});
  const controller = new AbortController();
  await limit.start(system.start, controller.signal);
  const waiting = limit.start(system.start, controller.signal);
  const other = new StartLimit(() => 1, () => {});
  const pausing = other.start(new System(0).start, controller.signal);
  await settle();
  controller.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
  await assertRejects(() => pausing, Error, "enough");
  const { tries } = system;
  await assertRejects(() => limit.start(system.start, controller.signal), Error, "enough");
  assertEquals([system.tries, limit.running, other.running], [tries, 1, 0]);
});
