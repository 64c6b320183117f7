/**
 * A plugin: registers a limiter of its own, which a config can then name as the built-in ones.
 *
 * The limiter adds a random part to the delays of another, so that items that failed together are not
 * retried together ("equal jitter"; see Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture
 * Blog, 2015).
 */

import { defineLimiter, type LimiterRegistry, type RateLimiter } from "@workqueue/core";

const jitter = defineLimiter({
  type: "jitter",
  description: "Makes the delays of another limiter up to a part longer, at random.",
  options: {
    limiter: { kind: "limiter", description: "The limiter whose delays are changed." },
    part: {
      kind: "number",
      min: 0,
      max: 1,
      default: 0.5,
      description: "The most that is added, as a part of the delay.",
    },
  },
  create: ({ limiter, part }): RateLimiter => ({
    when: (item, key) => limiter.when(item, key) * (1 + Math.random() * part),
    forget: (item, key) => limiter.forget(item, key),
    numRequeues: (item, key) => limiter.numRequeues(item, key),
  }),
});

/** For `registry.use`. */
export function jitterPlugin(registry: LimiterRegistry): void {
  registry.register(jitter);
}
