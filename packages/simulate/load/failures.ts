/**
 * Types of failures: at random, poison keys, outages, and attempts that hang.
 *
 * @module
 */

import type { Fields, OptionsOf } from "@workqueue/core/internal/registry";
import { RandomNumbers } from "../random/random_numbers.ts";
import { scopeField } from "./scope.ts";
import type { Failing, Failure, LoadDefinition, SimulatedAttempt } from "./kinds.ts";

const common = {
  group: { kind: "string", required: false, description: "Group whose attempts fail. Default: all groups." },
  after: {
    kind: "duration",
    required: false,
    description: "Time after which a failing attempt fails. Default: the time of its work.",
  },
  retryAfter: {
    kind: "duration",
    required: false,
    description: "The backend asks for a retry after this time, as with the header Retry-After.",
  },
  scope: scopeField,
} as const satisfies Fields;

const probability = (description: string) => ({ kind: "number", min: 0, max: 1, description }) as const;

const randomFields = { probability: probability("Probability that an attempt fails."), ...common } as const;
const poisonFields = {
  share: probability("Share of the keys that always fail."),
  terminal: {
    kind: "boolean",
    default: false,
    description: "Whether the handler knows that a retry is useless, and throws a TerminalError.",
  },
  ...common,
} as const satisfies Fields;
const outageFields = {
  from: { kind: "duration", description: "Beginning of the outage." },
  for: { kind: "duration", description: "Length of the outage." },
  probability: { ...probability("Probability that an attempt fails. Default: 1."), default: 1 },
  ...common,
} as const satisfies Fields;
const hangFields = {
  probability: probability("Probability that an attempt never ends."),
  group: common.group,
} as const satisfies Fields;

type Common = Partial<OptionsOf<typeof common>>;

const random: LoadDefinition<"failure", typeof randomFields> = {
  type: "random",
  description: "Each attempt fails with the same probability.",
  options: randomFields,
  create: ({ probability, ...common }) =>
    failure("random", common, (attempt) => drawn("random", attempt) < probability),
};

const poison: LoadDefinition<"failure", typeof poisonFields> = {
  type: "poison",
  description: "Some keys fail at each attempt.",
  options: poisonFields,
  create: ({ share, terminal, ...common }) =>
    failure("poison", common, ({ seed, key }) => RandomNumbers.for(seed, `poison ${key}`).uniform() < share, terminal),
};

const outage: LoadDefinition<"failure", typeof outageFields> = {
  type: "outage",
  description: "Attempts that begin within a period fail.",
  options: outageFields,
  create: ({ from, for: duration, probability, ...common }) => ({
    outage: { from, to: from + duration },
    ...failure(
      "outage",
      common,
      (attempt) =>
        attempt.at >= from && attempt.at < from + duration &&
        (probability === 1 || drawn("outage", attempt) < probability),
    ),
  }),
};

const hang: LoadDefinition<"failure", typeof hangFields> = {
  type: "hang",
  description: "Some attempts never end, and fail only if the queue has a timeout.",
  options: hangFields,
  create: ({ probability, ...common }) =>
    failure("hang", { ...common, after: Infinity }, (attempt) => drawn("hang", attempt) < probability),
};

/** Types of failures. */
export const failureDefinitions: readonly LoadDefinition<"failure", never>[] = [random, poison, outage, hang] as never;

function failure(
  reason: string,
  { group, after, retryAfter, scope }: Common,
  fails: (attempt: SimulatedAttempt) => boolean,
  isTerminal = false,
): Failure {
  const failing: Failing = { reason, after, retryAfter, scope, isTerminal };
  return {
    failing: (attempt) => (group === undefined || group === attempt.group) && fails(attempt) ? failing : undefined,
  };
}

/** Draws a number for an attempt: the same in each simulation with the same seed. */
function drawn(use: string, { seed, arrival, attempt }: SimulatedAttempt): number {
  return RandomNumbers.for(seed, use, arrival, attempt).uniform();
}
