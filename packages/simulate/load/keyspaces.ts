/**
 * Types of keyspaces: distinct keys, and a number of keys of which some may come more often than others.
 *
 * @module
 */

import { power } from "../random/arithmetic.ts";
import type { LoadDefinition } from "./kinds.ts";

const prefixField = { kind: "string", default: "item-", description: "Beginning of each key." } as const;

const distinctFields = { prefix: prefixField } as const;
const repeatedFields = {
  count: { kind: "integer", min: 1, max: 10_000_000, description: "Number of keys." },
  skew: {
    kind: "number",
    min: 0,
    max: 10,
    default: 0,
    description:
      "Exponent of Zipf's law: the n-th key comes in proportion to 1 / n^skew. With 0, all keys come equally often.",
  },
  prefix: prefixField,
} as const;

const distinct: LoadDefinition<"keyspace", typeof distinctFields> = {
  type: "distinct",
  description: "Each arriving item has a key of its own.",
  options: distinctFields,
  create: ({ prefix }) => ({ next: (arrival) => `${prefix}${arrival}` }),
};

const repeated: LoadDefinition<"keyspace", typeof repeatedFields> = {
  type: "repeated",
  description: "The same keys come again and again.",
  options: repeatedFields,
  create: ({ count, skew, prefix }) => {
    const sums = skew === 0 ? undefined : sumsOf(count, skew);
    return {
      next(_, random) {
        const u = random.uniform();
        return `${prefix}${sums === undefined ? Math.floor(u * count) : indexOf(sums, u * sums[count - 1]!)}`;
      },
    };
  },
};

/** Types of keyspaces. */
export const keyspaceDefinitions: readonly LoadDefinition<"keyspace", never>[] = [distinct, repeated] as never;

/** Returns the running sums of the keys' weights. */
function sumsOf(count: number, skew: number): Float64Array {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) sums[i] = sum += power(i + 1, -skew);
  return sums;
}

/** Returns the index of the first sum that is larger than `value`. */
export function indexOf(sums: Float64Array, value: number): number {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sums[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
