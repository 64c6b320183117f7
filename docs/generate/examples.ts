import type { BuiltInConfig, BuiltInOptions } from "@workqueue/core";

const exponential = { type: "exponential", baseDelay: "5ms", maxDelay: "1000s" } as const;
const bucket = { type: "bucket", rate: 1, burst: 5 } as const;

/** A config for each type of limiter: what the reference shows, and the plot draws. */
export const examples: { readonly [Type in keyof BuiltInOptions]: BuiltInConfig<Type> } = {
  bucket,
  exponential,
  "fast-slow": { type: "fast-slow", fastDelay: "100ms", slowDelay: "1m", maxFastAttempts: 5 },
  "max-of": { type: "max-of", limiters: [exponential, bucket] },
  "max-wait": { type: "max-wait", limiter: exponential, maxDelay: "10s" },
};
