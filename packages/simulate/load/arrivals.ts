/**
 * Types of arrivals: constant, Poisson, bursts, a daily curve, and a ramp.
 *
 * @module
 */

import { cosineOfTurns } from "../random/arithmetic.ts";
import type { RandomNumbers } from "../random/random_numbers.ts";
import type { Arrivals, LoadDefinition } from "./kinds.ts";
import type { Fields, OptionsOf } from "@workqueue/core/internal/registry";

const SECOND = 1000;
/** Largest rate, in items per second. */
const MAX_RATE = 1e6;

const common = {
  group: { kind: "string", required: false, description: "Group of these items. Default: drawn from the groups." },
  priority: {
    kind: "number",
    required: false,
    description: "Priority of these items. Default: drawn from the priorities.",
  },
  from: { kind: "duration", default: 0, description: "Time of the first possible arrival. Default: the start." },
  for: {
    kind: "duration",
    infinite: true,
    default: "unlimited",
    description: "Time for which items arrive. Default: until the end of the load.",
  },
} as const satisfies Fields;

const rate = (description: string) => ({ kind: "number", min: 0, max: MAX_RATE, description }) as const;

const constantFields = { rate: rate("Arrivals per second, at equal intervals."), ...common } as const;
const poissonFields = { rate: rate("Arrivals per second, on average."), ...common } as const;
const burstsFields = {
  size: { kind: "integer", min: 1, max: 10_000_000, description: "Number of items that arrive at the same time." },
  every: {
    kind: "duration",
    min: 1,
    infinite: true,
    default: "unlimited",
    description: "Time from one burst to the next. Default: there is one burst.",
  },
  ...common,
} as const satisfies Fields;
const dailyFields = {
  lowest: rate("Arrivals per second at the quietest time."),
  highest: rate("Arrivals per second at the busiest time."),
  peakAt: { kind: "duration", default: "12h", description: "Busiest time, from the beginning of each day." },
  day: { kind: "duration", min: 1, default: "24h", description: "Length of a day." },
  ...common,
} as const satisfies Fields;
const rampFields = {
  start: rate("Arrivals per second at the beginning."),
  end: rate("Arrivals per second after the ramp."),
  over: { kind: "duration", min: 1, description: "Time in which the rate changes. Afterwards it stays the same." },
  ...common,
} as const satisfies Fields;

const constant: LoadDefinition<"arrival", typeof constantFields> = {
  type: "constant",
  description: "Items arrive at equal intervals.",
  options: constantFields,
  create: ({ rate, ...common }) =>
    within(common, function* ({ from }) {
      for (let i = 0; rate > 0; i++) yield from + i * SECOND / rate;
    }),
};

const poisson: LoadDefinition<"arrival", typeof poissonFields> = {
  type: "poisson",
  description: "Items arrive independently of each other, at a constant rate.",
  options: poissonFields,
  create: ({ rate, ...common }) =>
    within(common, ({ from, end }, random) => poissonTimes(from, end, rate, () => rate, random)),
};

const bursts: LoadDefinition<"arrival", typeof burstsFields> = {
  type: "bursts",
  description: "Many items arrive at the same time, like those of a cron job.",
  options: burstsFields,
  create: ({ size, every, ...common }) =>
    within(common, function* ({ from }) {
      for (let burst = 0; burst === 0 || every < Infinity; burst++) {
        for (let i = 0; i < size; i++) yield from + (burst === 0 ? 0 : burst * every);
      }
    }),
};

const daily: LoadDefinition<"arrival", typeof dailyFields> = {
  type: "daily",
  description: "The rate of independent arrivals rises and falls each day.",
  options: dailyFields,
  check: atLeast("highest", "lowest"),
  create: ({ lowest, highest, peakAt, day, ...common }) =>
    within(common, ({ from, end }, random) => {
      const rateAt = (time: number) =>
        lowest + (highest - lowest) * (1 + cosineOfTurns((time - peakAt) % day / day)) / 2;
      return poissonTimes(from, end, highest, rateAt, random);
    }),
};

const ramp: LoadDefinition<"arrival", typeof rampFields> = {
  type: "ramp",
  description: "The rate of independent arrivals changes steadily from one value to another.",
  options: rampFields,
  create: ({ start, end: last, over, ...common }) =>
    within(common, ({ from, end }, random) => {
      const rateAt = (time: number) => start + (last - start) * Math.min((time - from) / over, 1);
      return poissonTimes(from, end, Math.max(start, last), rateAt, random);
    }),
};

/** Types of arrivals. */
export const arrivalDefinitions: readonly LoadDefinition<"arrival", never>[] = [
  constant,
  poisson,
  bursts,
  daily,
  ramp,
] as never;

type Common = OptionsOf<typeof common>;

/** Period in which items arrive, in milliseconds from the start. */
interface Period {
  readonly from: number;
  readonly end: number;
}

/** Returns arrivals that end when their period or the load is over. */
function within(
  { group, priority, from, for: duration }: Common,
  times: (period: Period, random: RandomNumbers) => Iterable<number>,
): Arrivals {
  return {
    group,
    priority,
    *times(random, endOfLoad) {
      const end = Math.min(from + duration, endOfLoad);
      for (const time of times({ from, end }, random)) {
        if (time >= end) return;
        yield time;
      }
    },
  };
}

/**
 * Iterates over independent arrivals with a rate that changes, by thinning (Lewis and Shedler, 1979): arrivals at the
 * highest rate, each of which is left out with a probability.
 */
function* poissonTimes(
  from: number,
  end: number,
  highest: number,
  rateAt: (time: number) => number,
  random: RandomNumbers,
): Generator<number> {
  if (highest === 0) return;
  for (let time = from; time < end;) {
    time += random.exponential() * SECOND / highest;
    const rate = rateAt(time);
    if (rate >= highest || random.uniform() * highest < rate) yield time;
  }
}

function atLeast(option: string, other: string): (options: Record<string, unknown>) => undefined | {
  option: string;
  rule: string;
} {
  return (options) =>
    options[option] as number >= (options[other] as number)
      ? undefined
      : { option, rule: `must not be less than '${other}'` };
}
