/** Prints the time and the memory that a simulated day takes, and whether the time grows in proportion to the load. */

import { type LoadDocument, simulate } from "@workqueue/simulate";
import process from "node:process";

const DAY = 86_400;

const config = {
  queues: { jobs: { concurrency: 16, limiter: { type: "exponential", baseDelay: "1s", maxDelay: "5m" } } },
};

/** Returns a load of one day with an outage, and about as many attempts as asked for. */
const loadOf = (attempts: number): LoadDocument => ({
  duration: "24h",
  arrivals: [{ type: "poisson", rate: attempts / 1.08 / DAY }],
  work: { type: "lognormal", median: "100ms", p99: "1s" },
  failures: [{ type: "random", probability: 0.05 }, { type: "outage", from: "12h", for: "10m" }],
});

async function measure(attempts: number): Promise<{ attempts: number; seconds: number }> {
  const began = performance.now();
  const report = await simulate(config, loadOf(attempts));
  return { attempts: report.attempts, seconds: (performance.now() - began) / 1000 };
}

await measure(20_000); // the compilers need some runs
const part = await measure(100_000);
const day = await measure(1_000_000);
const timePerAttempt = (result: typeof day) => result.seconds / result.attempts;
console.log(JSON.stringify({
  "a day": day.seconds,
  "attempts in the day": day.attempts,
  "most MB of memory of the process": process.resourceUsage().maxRSS / 1024,
  "ratio of the time per attempt to that of a day with 100,000 attempts": timePerAttempt(day) / timePerAttempt(part),
}));
