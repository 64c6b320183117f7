/**
 * Script that reloads a document many times. The script prints the heap growth in bytes, and whether almost all old
 * limiters were collected.
 */

import { defineLimiter, limiters, loadConfig, type RateLimiter } from "@workqueue/core";
import { collectLater, growthSince, heapUsed } from "./collect.ts";

const ROUNDS = 1000;

const made: WeakRef<object>[] = [];
const weighty = defineLimiter({
  type: "weighty",
  description: "Takes ten kilobytes, and cannot be changed.",
  options: {
    step: { kind: "integer", description: "" },
    limiter: { kind: "limiter", required: false, description: "" },
  },
  create({ limiter }): RateLimiter {
    const weight = new Float64Array(1250);
    const part = { when: () => weight[0]!, forget() {}, numRequeues: () => 0, limiter };
    made.push(new WeakRef(part));
    return part;
  },
});

/**
 * Creates a document whose limiters change at each step. The document contains replaced, nested and per-group limiters.
 */
function document(step: number): object {
  const part = { type: "weighty", step };
  return {
    limiters: {
      named: part,
      kept: { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: ["named", part] } },
      around: { type: "max-of", limiters: Array(1 + step % 3).fill(part) },
      nested: { type: "weighty", step: 1, limiter: { type: "weighty", step } },
    },
    queues: {
      lasting: { limiter: part, throttle: { rate: step, burst: 1 }, discipline: { type: "priority", max: step } },
      [step % 2 === 0 ? "even" : "odd"]: { limiter: "named" },
    },
  };
}

const config = loadConfig(document(1), { limiters: limiters.extend().register(weighty) });
const queue = config.queue<string>("lasting");
const limiter = config.limiter<string>("kept");
const pool = config.runWorkers("lasting", queue, () => {});

/** Separate function, so that no reference stays on the stack. */
function reloadAll(): void {
  for (let round = 1; round <= ROUNDS; round++) {
    config.reload(document(2 + round));
    limiter.when(`${round % 5}/x`);
    try {
      config.reload({
        ...document(1),
        limiters: { [`never ${round}`]: { type: "weighty", step: round } },
        queues: { q: 1 },
      });
    } catch {
      // the reload is rejected, as expected
    }
  }
}

reloadAll();
const before = await heapUsed();
reloadAll();
console.log(await growthSince(before));
const areFew = () => made.filter((part) => part.deref() !== undefined).length < 50;
for (let i = 0; i < 30 && !areFew(); i++) await collectLater();
console.log(areFew());
await pool.stop();
queue.shutDown();
