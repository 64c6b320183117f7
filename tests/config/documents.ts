/** Parts of config documents for tests. */

import { createDefaultItemLimiter, limiters } from "@workqueue/core";

export const TYPES = limiters.types().map((type) => `"${type}"`).join(", ");

export const EXPONENTIAL = { type: "exponential", baseDelay: 1, maxDelay: 100 };

/** Returns a registry with a limiter type that records the limiters that are created, in order. */
export function countingRegistry() {
  const created: string[] = [];
  const registry = limiters.extend().register({
    type: "count",
    description: "",
    options: {
      name: { kind: "string", description: "", default: "" },
      of: { kind: "limiters", description: "", required: false },
    },
    create: ({ name }: { name: string }) => {
      created.push(name);
      return createDefaultItemLimiter();
    },
  });
  return { created, registry };
}
