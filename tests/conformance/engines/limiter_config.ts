import type { LimiterConfig } from "@workqueue/core";
import type { LimiterSpec } from "../../conformance/trace.ts";

/** Returns the config of the limiter at the start of a trace. Times are multiplied by `slowness`. */
export function configOf([kind, ...made]: LimiterSpec, slowness = 1): LimiterConfig {
  const ms = (index: number) => made[index] as number * slowness / 1e6;
  const count = (index: number) => made[index] as number;
  const other = (value: unknown) => configOf(value as LimiterSpec, slowness);
  switch (kind) {
    case "exponential":
      return { type: "exponential", baseDelay: ms(0), maxDelay: ms(1) };
    case "fast-slow":
      return { type: "fast-slow", fastDelay: ms(0), slowDelay: ms(1), maxFastAttempts: count(2) };
    case "bucket":
      return { type: "bucket", rate: count(0) === Number.MAX_VALUE ? Infinity : count(0) / slowness, burst: count(1) };
    case "max-of":
      return { type: "max-of", limiters: made.map(other) };
    case "max-wait":
      return { type: "max-wait", limiter: other(made[0]), maxDelay: ms(1) };
    case "default-controller":
      return other(["max-of", ["exponential", 5e6, 1e12], ["bucket", 10, 100]]);
    case "default-item":
      return other(["exponential", 1e6, 1e12]);
    default:
      throw new Error(`Cannot build a limiter of kind ${kind}`);
  }
}
