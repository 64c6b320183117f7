/**
 * Types of workloads: constant, exponential, lognormal, and samples.
 *
 * @module
 */

import { parseDuration } from "@workqueue/core";
import { inspect, tryParseDuration } from "@workqueue/core/internal";
import { exp, log } from "../random/arithmetic.ts";
import { indexOf } from "./keyspaces.ts";
import type { LoadDefinition } from "./kinds.ts";

/** Quantile of the standard normal distribution for 99 %. */
const Z99 = 2.3263478740408408;

const constantFields = { time: { kind: "duration", description: "Time of each attempt." } } as const;
const exponentialFields = { mean: { kind: "duration", description: "Mean time of an attempt." } } as const;
const lognormalFields = {
  median: { kind: "duration", min: 1e-6, description: "Time that half of the attempts exceed." },
  p99: { kind: "duration", min: 1e-6, description: "Time that one attempt in a hundred exceeds." },
} as const;
const samplesFields = {
  times: {
    kind: "weights",
    description: 'Times of attempts, and how often each occurs in proportion, such as { "20ms": 9, "1s": 1 }.',
  },
} as const;

const constant: LoadDefinition<"workload", typeof constantFields> = {
  type: "constant",
  description: "Each attempt takes the same time.",
  options: constantFields,
  create: ({ time }) => ({ time: () => time }),
};

const exponential: LoadDefinition<"workload", typeof exponentialFields> = {
  type: "exponential",
  description: "Times with an exponential distribution: most are short, and a few are several times the mean.",
  options: exponentialFields,
  create: ({ mean }) => ({ time: (random) => mean * random.exponential() }),
};

const lognormal: LoadDefinition<"workload", typeof lognormalFields> = {
  type: "lognormal",
  description: "Times with a lognormal distribution, as most requests over a network have.",
  options: lognormalFields,
  check: ({ median, p99 }) => p99 >= median ? undefined : { option: "p99", rule: "must not be less than 'median'" },
  create({ median, p99 }) {
    const sigma = log(p99 / median) / Z99;
    return { time: (random) => median * exp(sigma * random.normal()) };
  },
};

const samples: LoadDefinition<"workload", typeof samplesFields> = {
  type: "samples",
  description: "Times drawn from a list.",
  options: samplesFields,
  check({ times }) {
    const wrong = [...times.keys()].find((time) => tryParseDuration(time) === undefined);
    if (wrong !== undefined) {
      const rule = `must have durations such as "20ms" as names, not ${inspect(wrong)}`;
      return { option: "times", rule };
    }
    return times.size > 0 ? undefined : { option: "times", rule: "must have at least one time" };
  },
  create({ times }) {
    const values = [...times.keys()].map((time) => parseDuration(time));
    let sum = 0;
    const sums = Float64Array.from(times.values(), (weight) => sum += weight);
    return { time: (random) => values[indexOf(sums, random.uniform() * sum)]! };
  },
};

/** Types of workloads. */
export const workloadDefinitions: readonly LoadDefinition<"workload", never>[] = [
  constant,
  exponential,
  lognormal,
  samples,
] as never;
