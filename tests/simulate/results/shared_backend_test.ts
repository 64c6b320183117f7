import { assert } from "@std/assert";
import { shareBackend, type Trial } from "../shared_backend.ts";

/** Trials with the least share of an oracle's successes. */
const TRIALS: Readonly<Record<string, Trial & { readonly goodput: number }>> = {
  "aimd": { throttleOf: () => ({ type: "aimd", max: 100 }), concurrency: 100, goodput: 0.95 },
  "aimd, from unequal limits": {
    throttleOf: (i) => ({ type: "aimd", max: 100, initial: i === 0 ? 60 : 1 }),
    concurrency: 100,
    goodput: 0.95,
  },
  "gradient": { throttleOf: () => ({ type: "gradient", max: 100 }), concurrency: 100, goodput: 0.95 },
  "gradient, from unequal limits": {
    throttleOf: (i) => ({ type: "gradient", max: 100, initial: i === 0 ? 60 : 1 }),
    concurrency: 100,
    goodput: 0.95,
  },
  "breaker, around an outage of 20 s": {
    throttleOf: () => ({ type: "breaker", openFor: "1s", rampUp: "5s" }),
    concurrency: 7,
    outage: [20_000, 40_000],
    goodput: 0.5,
  },
};

for (const [name, { goodput, ...trial }] of Object.entries(TRIALS)) {
  Deno.test(`eight processes share a backend fairly, each with a throttle of its own: ${name}`, async () => {
    for (const seed of [1, 2, 3, 4]) {
      const shares = await shareBackend(trial, seed);
      assert(shares.jain >= 0.98, `seed ${seed}: Jain's index is ${shares.jain}`);
      assert(shares.goodput >= goodput, `seed ${seed}: ${shares.goodput} of the oracle`);
    }
  });
}
