/** Delays of a limiter for the page that shows them. */

import { type Clock, limiters } from "../../mod.ts";
import { formatDuration } from "../../lib/base/mod.ts";

/** Configs to begin with, by type. */
export const EXAMPLES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    { type: "exponential", baseDelay: "100ms", maxDelay: "1m" },
    { type: "bucket", rate: 2, burst: 5 },
    {
      type: "max-of",
      limiters: [
        { type: "exponential", baseDelay: "100ms", maxDelay: "1m" },
        { type: "bucket", rate: 2, burst: 5 },
      ],
    },
    { type: "fast-slow", fastDelay: "1s", slowDelay: "1m", maxFastAttempts: 3 },
    { type: "steps", delays: ["1s", "5s", "1m", "10m"] },
    { type: "jitter", spread: 0.5, limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1h" } },
    { type: "max-wait", maxDelay: "30s", limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1h" } },
    { type: "per-group", separator: "/", limiter: { type: "bucket", rate: 1, burst: 1 } },
  ].map((config) => [config.type, JSON.stringify(config, null, 2)]),
);

/** Delays of a limiter, or the reason why there is none. */
export type Explored = { readonly error: string } | {
  readonly failures: readonly { failure: number; delay: string; total: string }[];
  readonly together: readonly { item: string; delay: string }[];
  /** Tokens of a bucket after twenty failures; missing if the limiter is no bucket. */
  readonly tokens?: string;
};

const FAILURES = 12;
const ITEMS = 20;

/** Builds the limiter of a config and asks it for delays. */
export function explore(text: string): Explored {
  try {
    const config = JSON.parse(text);
    return { failures: failuresOf(config), ...togetherOf(config) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** Clock that a test of delays moves by hand. */
class HandClock implements Clock {
  time = 0;
  now = () => this.time;
  setTimeout = () => 0;
  clearTimeout = () => {};
}

function failuresOf(config: object) {
  const clock = new HandClock();
  const limiter = limiters.build<string>(config as never, { clock });
  return Array.from({ length: FAILURES }, (_, i) => {
    const delay = limiter.when("group 1/item");
    clock.time += delay;
    return { failure: i + 1, delay: duration(delay), total: duration(clock.time) };
  });
}

function togetherOf(config: object) {
  const clock = new HandClock();
  const limiter = limiters.build<string>(config as never, { clock });
  const items = Array.from({ length: ITEMS }, (_, i) => {
    const item = `group ${i % 2 + 1}/item ${i + 1}`;
    return { item, delay: limiter.when(item) };
  });
  const together = items.toSorted((a, b) => a.delay - b.delay).map(({ item, delay }) => ({
    item,
    delay: duration(delay),
  }));
  const { bucket } = limiter as { bucket?: { tokens: number } };
  return { together, ...bucket !== undefined && { tokens: bucket.tokens.toFixed(1) } };
}

/** Returns a delay as text. */
function duration(ms: number): string {
  return Number.isFinite(ms) ? formatDuration(ms) : "never";
}
