/** Comparison between limiters of an engine and in-memory limiters, under random documents, reloads and calls. */

import { assert } from "@std/assert";
import { type BuiltInOptions, defineLimiter, limiters, loadConfig } from "@workqueue/core";
import fc from "fast-check";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { HandClock } from "../helpers.ts";
import { CountedFailures } from "./counted_failures.ts";
import { START } from "./engine_bench.ts";
import type { LimiterTest, Step } from "./limiter_steps.ts";

/** Third-party limiter with a `step` option that a reload can change. */
const linear = defineLimiter({
  type: "linear",
  description: "",
  options: { step: { kind: "duration", description: "" } },
  create: ({ step }) => new Linear(step),
  update: (limiter, { step }) => void ((limiter as Linear).step = step),
});

class Linear {
  readonly #failures = new Map<unknown, number>();

  constructor(public step: number) {}

  next(failures: number): number {
    return failures * this.step;
  }

  when(item: unknown, key = item): number {
    this.#failures.set(key, this.numRequeues(key) + 1);
    return this.next(this.numRequeues(key));
  }

  forget(item: unknown, key = item): void {
    this.#failures.delete(key);
  }

  numRequeues(item: unknown, key = item): number {
    return this.#failures.get(key) ?? 0;
  }
}

const registry = limiters.extend().register(linear);

type Node = string | {
  readonly type: Type;
  readonly limiter?: Node;
  readonly limiters?: readonly Node[];
};
type Draw = (below: number) => number;

/**
 * Returns the same limiter with different numbers. Buckets in groups keep their numbers: changed numbers would apply
 * immediately in memory, but in an engine only from the group's next failure on.
 */
function redrawn(node: Node, draw: Draw, isInGroup = false): Node {
  if (typeof node === "string") return node;
  const inner = (each: Node) => redrawn(each, draw, isInGroup || node.type === "per-group");
  const { limiter, limiters } = node;
  const parts = { ...limiter && { limiter: inner(limiter) }, ...limiters && { limiters: limiters.map(inner) } };
  return { ...node, ...parts, ...NUMBERS[node.type](draw, isInGroup) };
}

/** Type of a limiter in the documents. */
type Type = keyof BuiltInOptions | "linear";

/** New numbers of each type of limiter. A type of the core without an entry doesn't compile. */
const NUMBERS: Readonly<Record<Type, (draw: Draw, isInGroup: boolean) => object>> = {
  "bucket": (draw, isInGroup) => isInGroup ? {} : { rate: [0, 0.5, 3, 100, Infinity][draw(5)], burst: draw(6) },
  "exponential": (draw) => ({ baseDelay: draw(3000) }),
  "fast-slow": (draw) => ({ fastDelay: draw(3000), slowDelay: draw(9000), maxFastAttempts: draw(4) }),
  "ignore-early": () => ({}),
  "jitter": (draw) => ({ spread: draw(11) / 10 }),
  "linear": (draw) => ({ step: draw(3000) }),
  "max-of": () => ({}),
  "max-wait": (draw) => ({ maxDelay: draw(5000) }),
  "per-group": () => ({}),
  "steps": (draw) => ({ delays: Array.from({ length: 1 + draw(4) }, () => draw(9000)) }),
};

const delay = fc.integer({ min: 0, max: 3000 });
const NAMES = ["one", "two"];

/** Generates a limiter that may refer to the first `names` names. */
function config(names: number): fc.Arbitrary<Node> {
  const { described } = fc.letrec<{ any: Node; described: Node }>((tie) => {
    const name = names === 0 ? [] : [{ weight: 2, arbitrary: fc.constantFrom(...NAMES.slice(0, names)) }];
    const of = (options: Record<string, fc.Arbitrary<unknown>>, weight = 2) => ({ options, weight });
    // A type of the core without an entry doesn't compile.
    const types: Readonly<Record<Exclude<Type, "ignore-early">, ReturnType<typeof of>>> = {
      "exponential": of({ baseDelay: delay, maxDelay: fc.constant(1e13) }, 3),
      "bucket": of({ rate: fc.integer({ min: 1, max: 20 }), burst: fc.integer({ min: 1, max: 5 }) }, 4),
      "fast-slow": of({ fastDelay: delay, slowDelay: delay, maxFastAttempts: fc.nat(4) }),
      "steps": of({ delays: fc.array(delay, { minLength: 1, maxLength: 4 }) }),
      "linear": of({ step: delay }),
      "max-of": of({ limiters: fc.array(tie("any"), { minLength: 1, maxLength: 4 }) }, 3),
      "max-wait": of({ limiter: tie("any"), maxDelay: delay }, 1),
      "jitter": of({ limiter: tie("any"), spread: fc.constant(0.5) }, 1),
      "per-group": of({ separator: fc.constant("/"), limiter: tie("described") }, 1),
    };
    const described = fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      ...Object.entries(types).map(([type, { options, weight }]) => {
        return { weight, arbitrary: fc.record({ type: fc.constant(type), ...options }) };
      }),
    );
    return { described, any: fc.oneof(...name, { weight: 6, arbitrary: tie("described") }) } as never;
  });
  return described;
}

const document = fc.record({ one: config(0), two: config(1), root: config(2) });
const calls = fc.array(
  fc.record({
    what: fc.oneof({ weight: 5, arbitrary: fc.constant("when") }, fc.constantFrom("forget", "requeues")),
    wait: fc.oneof(fc.constantFrom(1, 1000), fc.integer({ min: 1, max: 5_000_000 })),
    key: fc.constantFrom("a/1", "a/2", "b/1", "b"),
    /**
     * Whether the document is reloaded before the call. The next call to a limiter tells the engine about the reload.
     */
    reloads: fc.integer({ min: 0, max: 2 }).map((number) => number === 0),
  }),
  { minLength: 1, maxLength: 40, size: "max" },
);

/** Registers the comparison of an engine with reloaded limiters in memory. `limiterTest` registers a test. */
export function reloadModel(limiterTest: LimiterTest): void {
  limiterTest("reload: random documents with changed numbers have the same delays as in memory", async (runner) => {
    let reloads = 0;
    await fc.assert(
      fc.asyncProperty(document, calls, fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), async (
        document,
        calls,
        stream,
      ) => {
        await runner.clear();
        const clock = new HandClock();
        const drawn: number[] = [];
        const random = () => {
          drawn.push(stream.next().value);
          return drawn.at(-1)!;
        };
        const draw = (below: number) => Math.floor(stream.next().value * below);
        let limiters: Record<string, Node> = document;
        const contents = () => ({ limiters, queues: { q: { limiter: "root" } } });
        const config = loadConfig(contents(), { limiters: registry, clock, random });
        const memory = config.limiter<string>("root");

        const failures = new CountedFailures(clock);
        const steps: Step[] = [];
        const expected: (number | undefined)[] = [];
        let time = 0;
        const call = (what: string, key: string) => {
          if (what === "forget") {
            failures.forget(key);
            expected.push(undefined);
            steps.push(["forget", START + time, key]);
            return;
          }
          const plan = planLimiter("plan", config.describe("q").limiter, { random: () => drawn.shift()! });
          if (what === "when") {
            const before = failures.count(key);
            const failed = { startedAt: clock.time, minDelay: 0 };
            expected.push(failures.fail(memory, key, { ...failed, forgetAfter: undefined }).delay);
            const given = plan.given(before, { ...failed, key, item: key, isReadable: true });
            steps.push(["when", START + time, plan.rules, key, given]);
          } else {
            expected.push(failures.numRequeues(memory, key));
            steps.push(["requeues", START + time, plan.rules, key]);
          }
        };
        call("when", "a/1"); // the engine has no data about a bucket before its first use
        for (const { what, wait, key, reloads: isReloaded } of calls) {
          time += wait;
          clock.time = time / 1000;
          if (isReloaded && what === "when") {
            limiters = Object.fromEntries(Object.entries(limiters).map(([name, node]) => [name, redrawn(node, draw)]));
            config.reload(contents());
            reloads++;
          }
          call(what, key);
        }
        const answers = await runner.run(...steps);
        for (const [i, [answer]] of answers.entries()) {
          const [ours, theirs] = [answer, expected[i]];
          const isRight = ours === theirs || Math.abs(ours! - theirs!) <= Math.max(0.001, Math.abs(theirs!) * 1e-9);
          assert(isRight, `step ${i}: ${JSON.stringify(steps[i])} gives ${ours}, and in memory ${theirs}`);
        }
      }),
      { seed: 14, numRuns: 1000 },
    );
    assert(reloads > 4000, `${reloads} reloads`);
  });
}
