/**
 * Tests of clocks that jump: the server's clock, simulated by scripts with a settable time, and a client's wall clock.
 */

import { assert, assertEquals } from "@std/assert";
import type { TurnReply, TurnRequest } from "@workqueue/engine";
import { connect } from "../../../packages/redis/connection/connect.ts";
import { RedisEngine } from "../../../packages/redis/engine.ts";
import { createScripts } from "../../../packages/redis/scripts/script.ts";
import { redisTest, serverTest, type SharedServer, uniqueName } from "../redis_tests.ts";
import { RedisServer } from "../server.ts";
import { START, TimedServer } from "../timed_server.ts";
import { newQueue, open, take, until } from "./faults.ts";

const LEASE = 9000;
const AN_HOUR = 3_600_000;

/** Queue that several processes call, under a clock that the test sets. */
class World {
  readonly engine: RedisEngine;
  /** Time in milliseconds. */
  now = 1.8e12;
  readonly #clock = uniqueName("clock");
  readonly #call: SharedServer["call"];

  constructor(engine: (time: string) => RedisEngine, call: SharedServer["call"]) {
    this.engine = engine(`{ redis.call('GET', '${this.#clock}'), 0 }`);
    this.#call = call;
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    await this.#call("SET", this.#clock, String(Math.floor(this.now / 1000)));
  }

  async turn(owner: string, request: Partial<TurnRequest>) {
    const common = { process: owner, owner, known: 0, wanted: 0, throttle: undefined, finishes: [] };
    return await this.engine.turn({ ...common, ...request });
  }

  async take(owner: string, wanted = 1, known = 0) {
    return (await this.turn(owner, { wanted, known })).taken;
  }

  async finish(owner: string, { key, token }: { key: string; token: string }) {
    return (await this.turn(owner, { finishes: [{ key, token, kind: "succeeded" }] })).answers[0];
  }
}

function worldTest(name: string, run: (world: World) => Promise<void>): void {
  redisTest(`rule 15, clocks: ${name}`, async ({ url, call }) => {
    const connection = connect("test", { url });
    const limiter = { rules: "{}", needsStart: false, given: () => "[-1,1]" };
    const settings = {
      name: uniqueName("queue"),
      leaseDuration: LEASE,
      maxStalls: 2,
      replaces: false,
      folds: false,
      hasItems: false,
      limiter,
    };
    const world = new World((time) => new RedisEngine(connection, createScripts(time), settings), call);
    await world.pass(0);
    await run(world);
    await connection.release();
  });
}

const entries = (...keys: string[]) => keys.map((key) => ({ key, payload: "" }));

worldTest(
  "the server's clock jumps forward, and no lease ends before another lease duration has passed",
  async (world) => {
    const { engine } = world;
    await engine.add(entries("a"));
    const [a] = await world.take("holder");
    await world.pass(AN_HOUR);
    assertEquals(await world.take("other"), []);
    await world.pass(LEASE / 3);
    assertEquals(await world.take("other"), []);
    assert(await engine.renew("holder"));
    for (let third = 0; third < 6; third++) {
      await world.pass(LEASE / 3);
      assertEquals(await world.take("other"), []);
      assert(await engine.renew("holder"));
    }
    assertEquals(await world.finish("holder", a!), true);
  },
);

worldTest("after a jump, a silent process loses its items one lease later", async (world) => {
  await world.engine.add(entries("a"));
  const [a] = await world.take("holder");
  await world.pass(AN_HOUR);
  for (let third = 0; third < 3; third++) {
    assertEquals(await world.take("other"), []);
    await world.pass(LEASE / 3);
  }
  await world.pass(1000);
  const [again] = await world.take("other");
  assertEquals(again!.key, "a");
  assert(Number(again!.token) > Number(a!.token));
  assertEquals([await world.finish("holder", a!), await world.finish("other", again!)], [false, true]);
});

worldTest("the server's clock jumps back: tokens grow, the order stays, and no item stalls", async (world) => {
  const { engine } = world;
  await engine.add(entries("a", "b"));
  const [a] = await world.take("holder");
  await engine.add(entries("c"));
  await world.pass(-AN_HOUR);
  await engine.add(entries("d"));
  const taken = await world.take("other", 9);
  assertEquals(taken.map(({ key }) => key), ["b", "c", "d"]);
  const tokens = [a!, ...taken].map(({ token }) => Number(token));
  assertEquals(tokens, [...new Set(tokens)].sort((x, y) => x - y));
  for (let third = 0; third < 4; third++) {
    await world.pass(LEASE / 3);
    assertEquals(await world.take("third"), []);
    assert(await engine.renew("holder"));
    assert(await engine.renew("other"));
  }
  await world.pass(AN_HOUR); // the clock is right again
  assertEquals(await world.take("third"), []);
  for (const one of taken) assertEquals(await world.finish("other", one), true);
  assertEquals(await world.finish("holder", a!), true);
});

worldTest("an owner that is losing many items takes no items under its old name", async (world) => {
  const keys = Array.from({ length: 300 }, (_, i) => `key ${i}`);
  await world.engine.add(entries(...keys, ...keys.map((key) => `other ${key}`)));
  const processing = await world.take("holder", keys.length);
  for (let third = 0; third < 4; third++) {
    await world.pass(LEASE / 3 + 1000);
    await world.turn("other", {}); // the server receives a call from another process
  }
  assertEquals((await world.take("other")).length, 1); // this call takes the first 200 items away from "holder"
  const finishes = processing.map(({ key, token }) => ({ key, token, kind: "succeeded" as const }));
  const { isLost, taken, answers } = await world.turn("holder", { wanted: 300, finishes });
  assertEquals([isLost, taken.length], [true, 0]);
  assertEquals(answers.filter((counts) => counts).length, 100);
});

redisTest("clocks: the wall clock of a client jumps, and nothing changes", async ({ url }) => {
  const { name, stored } = newQueue(url);
  await using opened = open(url, name, { leaseDuration: 900 });
  await using other = open(url, name, { leaseDuration: 900 });
  const RealDate = Date;
  let jump = 1;
  class JumpingDate extends RealDate {
    static override now(): number {
      return RealDate.now() + (jump *= -2) * AN_HOUR;
    }
  }
  globalThis.Date = JumpingDate as DateConstructor;
  try {
    await opened.queue.add("a");
    const lease = await take(opened.queue);
    await opened.queue.addAfter("b", 1000);
    const later = await take(other.queue); // by now, `lease` would have ended without a renewal
    assertEquals(later.item, "b");
    assertEquals([lease.signal.aborted, await lease.finish(), await later.finish()], [false, true, true]);
  } finally {
    globalThis.Date = RealDate;
  }
  assertEquals([await stored.stalls(), opened.errors, other.errors], [0, [], []]);
});

for (const [name, difference] of Object.entries({ behind: -AN_HOUR, ahead: AN_HOUR })) {
  serverTest(
    `rule 15, clocks: after a failover to a server whose clock is ${name}, leases, delays and the order are kept`,
    async () => {
      await using first = await RedisServer.start();
      await using second = await RedisServer.start();
      await first.call("CONFIG", "SET", "repl-diskless-sync-delay", "0");
      await second.call("REPLICAOF", "127.0.0.1", new URL(first.url).port);
      const queue = uniqueName("queue");
      let passed = 0; // ms since the start of the test
      const settings = { leaseDuration: LEASE };
      const turn = { known: 0, wanted: 0, throttle: undefined, finishes: [] };
      const by = (owner: string) => ({ ...turn, process: owner, owner });
      const keysOf = ({ taken }: Pick<TurnReply, "taken">) => taken.map(({ key }) => key);

      await using before = await TimedServer.connect(first.url);
      const old = before.engine(queue, () => START + passed * 1000, settings);
      await old.add(entries("gone's", "mine", "ready"));
      assertEquals(keysOf(await old.turn({ ...by("gone"), wanted: 1 })), ["gone's"]);
      const { taken: [mine] } = await old.turn({ ...by("I"), wanted: 1 });
      await old.add(entries("later"), 2000);
      await until(async () => await before.call("WAIT", "1", "1000") === 1);
      await second.call("REPLICAOF", "NO", "ONE");
      await first.kill("SIGKILL");

      await using after = await TimedServer.connect(second.url);
      const engine = after.engine(queue, () => START + (passed + difference) * 1000, settings);
      const pass = async (ms: number) => {
        for (let left = ms; left > 0; left -= 1000) {
          passed += Math.min(left, 1000);
          await engine.renew("I");
        }
      };
      await engine.add(entries("added after"));
      const finishes = [{ key: mine!.key, token: mine!.token, kind: "succeeded" as const }];
      const reply = await engine.turn({ ...by("I"), known: 0, wanted: 9, finishes });
      assertEquals(reply.answers, [true]);
      const due = difference > 0 ? ["later"] : [];
      assertEquals(keysOf(reply).toSorted(), ["ready", "added after", ...due].toSorted());
      assertEquals(keysOf(reply)[0], "ready");
      await pass(2001);
      const later = keysOf(await engine.turn({ ...by("I"), known: 9, wanted: 9 }));
      assertEquals([...due, ...later], ["later"]);
      await pass(3 * LEASE);
      assertEquals(keysOf(await engine.turn({ ...by("I"), known: 9, wanted: 9 })), ["gone's"]);
    },
  );
}
