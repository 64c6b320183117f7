/**
 * Tests of rule 16: random reloads between random operations on limiters, queues and pools.
 *
 * `WORKQUEUE_RUNS=100000` runs more operations. A failure prints the seed and the shortest failing sequence.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import { ConfigError, loadConfig } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flushPromises as flush, randomNumbers, takeAll } from "../queue_helpers.ts";
import { type Config, customLimiters, type Document, isRefused, PlainLimiters, REFUSED } from "./plain_limiters.ts";

/** Number of runs. Of bugs planted in reloads, the rarest was found after 38 runs. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 300);

/**
 * Generates a limiter that may refer to the given names and is nested at most `depth` levels deep. The limiter's
 * numbers are small, so that options of different documents are sometimes equal.
 */
function limiter(names: readonly string[], depth: number): fc.Arbitrary<Config> {
  const number = fc.integer({ min: 1, max: 3 });
  const simple: fc.Arbitrary<Config>[] = [
    ...names.map((name) => fc.constant(name)),
    fc.record({ type: fc.constant("exponential" as const), baseDelay: number, maxDelay: fc.constantFrom(3, 50) }),
    fc.record({
      type: fc.constant("fast-slow" as const),
      fastDelay: number,
      slowDelay: fc.constantFrom(20, 30),
      maxFastAttempts: number,
    }),
    fc.record({ type: fc.constant("bucket" as const), rate: fc.constantFrom(0.5, 2, 100), burst: number }),
  ];
  if (depth === 0) return fc.oneof(...simple);
  const inner = limiter(names, depth - 1);
  const described = inner.filter((config) => typeof config !== "string");
  const step = fc.constantFrom(1, 2);
  return fc.oneof(
    ...simple,
    fc.record({ type: fc.constant("max-of" as const), limiters: fc.array(inner, { minLength: 1, maxLength: 2 }) }),
    fc.record({ type: fc.constant("max-wait" as const), maxDelay: fc.constantFrom(2, 40), limiter: inner }),
    fc.record({ type: fc.constant("per-group" as const), separator: fc.constant("/"), limiter: described }),
    fc.record({ type: fc.constantFrom("soft" as const, "stiff" as const), step, limiter: inner }),
  );
}

/**
 * Names to which limiters can refer. Limiters "a" to "c" refer only to later names in this list. No limiter refers to
 * "d", so there are no cycles. Limiter "d" and queue "r" are optional.
 */
const NAMES = ["a", "b", "c"];
const document: fc.Arbitrary<Document> = fc.record({
  limiters: fc.record({
    a: limiter(["b", "c"], 2),
    b: limiter(["c"], 2),
    c: limiter([], 1),
    d: limiter(NAMES, 1),
  }, { requiredKeys: ["a", "b", "c"] }),
  queues: fc.record({ q: fc.record({ limiter: limiter(NAMES, 2) }), r: fc.record({ limiter: limiter(NAMES, 1) }) }, {
    requiredKeys: ["q"],
  }),
}) as fc.Arbitrary<Document>;

/** A document, two variations of it, and an unrelated document. */
const sequence = fc.tuple(document, document, fc.nat()).map(([one, other, seed]) => {
  const random = randomNumbers(seed);
  return [one, vary(one, random), vary(one, random), other];
});

/** Returns a copy of a part of a document, with some numbers and sometimes the type changed. */
function vary<C>(config: C, random: () => number): C {
  if (Array.isArray(config)) return config.map((each) => vary(each, random)) as C;
  if (typeof config !== "object" || config === null) return config;
  if ("type" in config && random() < 0.07) return { type: "exponential", baseDelay: 1, maxDelay: 50 } as C;
  return Object.fromEntries(
    Object.entries(config).map(([option, value]) => {
      if (option === "step") {
        return [option, random() < 0.3 ? 1 + Math.floor(random() * 3) : random() < 0.2 ? REFUSED : value];
      }
      if (typeof value === "number" && random() < 0.4) {
        return [option, option === "maxDelay" ? value + 5 : 1 + Math.floor(random() * 3)];
      }
      return [option, vary(value, random)];
    }),
  ) as C;
}

const key = fc.constantFrom("x/1", "x/2", "y/1");
const place = fc.constantFrom("a", "b", "c", "d");
const queue = fc.constantFrom("q", "r");
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("when" as const), place, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), place, key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("addRateLimited" as const), queue, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forgetItem" as const), queue, key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("reload" as const), document: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("reloadBroken" as const), document: fc.nat(3), where: fc.nat(2) }),
  },
);

/** Returns the document with an error at one of three places. */
function broken(document: Document, where: number): object {
  const { limiters, queues } = document;
  if (where === 0) return { limiters, queues: { ...queues, r: { limiter: "nobody" } } };
  if (where === 1) return { limiters: { ...limiters, z: { type: "bucket", rate: -1, burst: 1 } }, queues };
  return { limiters: { z: { type: "max-of", limiters: ["z"] }, ...limiters }, queues };
}

Deno.test("rule 16: limiters count and delay like a plain model across random reloads", async () => {
  let [reloads, refusals] = [0, 0];
  await fc.assert(
    fc.asyncProperty(sequence, fc.array(operation, { minLength: 20, maxLength: 60 }), async (documents, operations) => {
      const clock = new HandClock();
      const config = loadConfig(documents[0]!, { clock, limiters: customLimiters() });
      const plain = new PlainLimiters(clock, documents[0]!);
      // Limiters that are only a name are left out, because they stand for another limiter.
      const described = NAMES.filter((name) => typeof documents[0]!.limiters[name] !== "string");
      const processing = new Map(described.map((name) => [name, config.limiter<string>(name)]));
      const queues = new Map([["q", config.queue<string>("q")]]);
      const due = new Map<string, Map<string, number>>([["q", new Map()], ["r", new Map()]]);
      const ready = new Map([["q", new Set<string>()], ["r", new Set<string>()]]);
      const describe = () => structuredClone(config.queueNames.map((name) => config.describe(name)));

      for (const operation of operations) {
        const { limiters, queues: described } = plain.document;
        switch (operation.do) {
          case "when":
          case "forget": {
            const { place, key } = operation;
            if (!Object.hasOwn(limiters, place)) break;
            const path = `/limiters/${place}`;
            const limiter = config.limiter<string>(place);
            assertEquals(limiter[operation.do](key), plain[operation.do](path, limiters[place]!, key));
            assertEquals(limiter.numRequeues(key), plain.numRequeues(path, limiters[place]!, key));
            assertEquals(processing.get(place)?.numRequeues(key) ?? limiter.numRequeues(key), limiter.numRequeues(key));
            break;
          }
          case "addRateLimited":
          case "forgetItem": {
            const { queue: name, key } = operation;
            if (!Object.hasOwn(described, name)) break;
            if (!queues.has(name)) queues.set(name, config.queue(name));
            const queue = queues.get(name)!;
            if (operation.do === "forgetItem") {
              queue.forget(key);
              plain.forgetItem(name, key);
            } else {
              queue.addRateLimited(key);
              const delay = plain.addRateLimited(name, key);
              const dueAt = due.get(name)!;
              if (delay === 0) ready.get(name)!.add(key);
              else dueAt.set(key, Math.min(dueAt.get(key) ?? Infinity, clock.time + delay));
            }
            for (const [name, queue] of queues) {
              if (!Object.hasOwn(described, name)) continue;
              assertEquals(queue.numRequeues(key), plain.numRequeuesOfItem(name, key), `of ${name}`);
            }
            break;
          }
          case "advance":
            await clock.advance(operation.ms);
            for (const [name, queue] of queues) {
              const dueAt = due.get(name)!;
              const expected = ready.get(name)!;
              for (const [key, at] of dueAt) if (at <= clock.time && dueAt.delete(key)) expected.add(key);
              assertEquals(takeAll(queue).sort(), [...expected].sort(), `of ${name} are ready`);
              expected.clear();
            }
            break;
          case "reload": {
            const [next, before] = [documents[operation.document]!, describe()];
            if (isRefused(next)) {
              assertThrows(() => config.reload(next), ConfigError, "refused");
              assertEquals(describe(), before);
              refusals++;
            } else {
              config.reload(next);
              plain.reload(next);
              reloads++;
            }
            break;
          }
          case "reloadBroken": {
            const before = describe();
            assertThrows(() => config.reload(broken(documents[operation.document]!, operation.where)), ConfigError);
            assertEquals(describe(), before);
            break;
          }
        }
      }
      assertEquals(config.reload(plain.document), []);
    }),
    { numRuns: RUNS },
  );
  assert(reloads > 4 * RUNS && refusals > RUNS / 20, `${reloads} reloads and ${refusals} refusals in ${RUNS} runs`);
});

/** Settings of two queues, which share a bucket or have separate buckets. */
const settings = fc.record({
  concurrency: fc.integer({ min: 1, max: 3 }),
  throttle: fc.constantFrom("shared", "shared", "shared", { rate: 20, burst: 1 }, undefined),
  limiter: fc.constantFrom("backoff", undefined, { type: "exponential", baseDelay: 3, maxDelay: 30 }),
  timeout: fc.option(fc.constantFrom(5, 1000), { nil: undefined }),
}, { requiredKeys: [] });
const poolDocument = fc.record({
  limiters: fc.record({
    shared: fc.record({
      type: fc.constant("bucket"),
      rate: fc.constantFrom(0, 50, 200, 400),
      burst: fc.integer({ min: 1, max: 4 }),
    }),
    backoff: fc.constantFrom(
      { type: "exponential", baseDelay: 1, maxDelay: 20 },
      { type: "exponential", baseDelay: 7, maxDelay: 20 },
      { type: "fast-slow", fastDelay: 1, slowDelay: 9, maxFastAttempts: 2 },
    ),
  }),
  queues: fc.record({ q: settings, r: settings }),
});
const poolOperation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("add" as const), queue, count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("end" as const), which: fc.nat(5), fails: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("reload" as const), document: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reloadBroken" as const), document: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const), queue }) },
);

Deno.test("rule 16: across random reloads, pools lose no item, take none twice, and begin no attempt without a token", async () => {
  let [reloads, limited] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(poolDocument, { minLength: 4, maxLength: 4 }),
      fc.array(poolOperation, { minLength: 20, maxLength: 60 }),
      async (documents, operations) => {
        const clock = new HandClock();
        let inForce: { limiters: typeof documents[0]["limiters"]; queues: Record<string, object> } = documents[0]!;
        const config = loadConfig(inForce, { clock });
        const running = new Map<string, (fails: boolean) => void>();
        const succeeded: string[] = [];
        const added: string[] = [];
        // Maximum number of tokens that the shared bucket can have given out so far, and the number of attempts that
        // needed a token.
        let [tokens, attempts] = [documents[0]!.limiters.shared.burst, 0];
        const advance = async (ms: number) => {
          for (let i = 0; i < ms; i++) {
            tokens += inForce.limiters.shared.rate / 1000;
            await clock.advance(1);
          }
        };
        const run = (name: string) => {
          const queue = config.queue<string>(name);
          config.runWorkers(name, queue, async (key, { signal }) => {
            assert(!running.has(key), `${key} has two holders`);
            if ((inForce.queues[name] as { throttle?: unknown })?.throttle === "shared") {
              assert(++attempts <= tokens + 1e-6, `${attempts} attempts began with ${tokens} tokens`);
              limited++;
            }
            const fails = await new Promise<boolean>((resolve) => running.set(key, resolve));
            running.delete(key);
            if (fails) throw new Error("fails");
            if (!signal.aborted) succeeded.push(key); // otherwise the attempt timed out and is retried
          }, { onError() {} });
          return queue;
        };
        const queues = new Map(["q", "r"].map((name) => [name, run(name)]));
        await flush();

        for (const operation of operations) {
          switch (operation.do) {
            case "add":
              for (let i = 0; i < operation.count; i++) {
                const key = `${operation.queue} ${added.length}`;
                added.push(key);
                queues.get(operation.queue)!.add(key);
              }
              break;
            case "end":
              [...running.values()][operation.which]?.(operation.fails);
              break;
            case "advance":
              await advance(operation.ms);
              break;
            case "reload":
              config.reload(inForce = documents[operation.document]!);
              reloads++;
              break;
            case "reloadBroken":
              assertThrows(
                () => config.reload({ ...documents[operation.document]!, limiters: {}, queue: {} }),
                ConfigError,
              );
              break;
            case "lose": {
              const { [operation.queue]: _, ...others } = inForce.queues;
              config.reload(inForce = { ...inForce, queues: others });
              break;
            }
          }
          await flush();
        }

        inForce = { ...documents[0]!, queues: { q: { concurrency: 3 }, r: { concurrency: 3 } } };
        config.reload(inForce);
        for (let i = 0; succeeded.length < added.length && i < 200; i++) {
          await flush();
          for (const end of running.values()) end(false);
          await flush(); // let work settle before the attempts time out
          await advance(10);
        }
        await flush();
        assertEquals(succeeded.sort(), added.sort(), "each item succeeds, once");
        for (const queue of queues.values()) {
          assertEquals([queue.length, queue.processing, queue.delayed], [0, 0, 0]);
          queue.shutDown();
        }
        await flush();
        assertEquals(clock.timers, 0);
      },
    ),
    { numRuns: RUNS / 3 },
  );
  assert(reloads > RUNS / 2 && limited > RUNS / 2, `${reloads} reloads, ${limited} attempts with a token`);
});
