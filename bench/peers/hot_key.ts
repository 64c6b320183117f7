/**
 * Cost of one key that is added and finished again and again while many other keys stay in the queue. The cost must not
 * depend on the number of other keys.
 */

import {
  adaptDiscipline,
  createDelayingQueue,
  createExponentialLimiter,
  createWorkQueue,
  type QueueDiscipline,
  type ReadyEntry,
} from "@workqueue/core";
import { distinctKeys } from "../keys.ts";
import { StillClock } from "../still_clock.ts";
import { FEW_ROUNDS } from "../rows/row.ts";
import { type Contender, defineWork, type Work } from "./row.ts";

/** Number of keys that stay in the queue. */
const OTHERS = 100_000;

const HOT = "hot";
const CYCLES = 10_000;
/** Number of cycles for the bare map, which takes up to 20 µs per cycle. */
const FEWER_CYCLES = 1000;

/** One hour, in milliseconds. A delay of this length never passes in a benchmark. */
const LONG = 3_600_000;

const repeat = (cycle: () => void): Contender => (cycles) => () => {
  for (let i = 0; i < cycles; i++) cycle();
};

/** Discipline that hands out the newest item first. The hot key is added last, so the queue hands it out next. */
class Lifo implements QueueDiscipline<string> {
  readonly #entries: ReadyEntry<string>[] = [];
  get length(): number {
    return this.#entries.length;
  }
  push(entry: ReadyEntry<string>): void {
    this.#entries.push(entry);
  }
  pop(): ReadyEntry<string> | undefined {
    return this.#entries.pop();
  }
  touch(): void {}
}

const bareMap: Contender = (cycles) => {
  const map = new Map(distinctKeys(OTHERS).map((key) => [key, true]));
  return repeat(() => {
    map.set(HOT, true);
    map.delete(HOT);
  })(cycles);
};

/** Workloads, by short name. */
export const hotKeyWorks: Readonly<Record<string, Work>> = {
  hotKey: defineWork({
    title: `one hot key, added and finished again and again beside ${OTHERS.toLocaleString("en")} other keys`,
    items: CYCLES,
    itemsOf: { "bare Map: set, delete": FEWER_CYCLES },
    rounds: FEW_ROUNDS,
    unit: "µs an item",
    contenders: {
      "beside ready keys, with a discipline": (cycles) => {
        const queue = createWorkQueue<string>({ discipline: adaptDiscipline(new Lifo()) });
        for (const key of distinctKeys(OTHERS)) queue.add(key);
        return repeat(() => {
          queue.add(HOT);
          queue.tryGet()![Symbol.dispose]();
        })(cycles);
      },
      "beside processing keys": (cycles) => {
        const queue = createWorkQueue<string>();
        for (const key of distinctKeys(OTHERS)) {
          queue.add(key);
          queue.tryGet();
        }
        return repeat(() => {
          queue.add(HOT);
          queue.tryGet()![Symbol.dispose]();
        })(cycles);
      },
      "beside delayed keys, delayed itself": (cycles) => {
        const clock = new StillClock();
        const queue = createDelayingQueue<string>({ clock });
        for (const key of distinctKeys(OTHERS)) queue.addAfter(key, LONG);
        return repeat(() => {
          queue.addAfter(HOT, 1);
          clock.moveToNextTimer();
          queue.tryGet()![Symbol.dispose]();
        })(cycles);
      },
      "beside failing keys, in a limiter": (cycles) => {
        const limiter = createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 });
        for (const key of distinctKeys(OTHERS)) limiter.when(key);
        return repeat(() => {
          limiter.when(HOT);
          limiter.forget(HOT);
        })(cycles);
      },
      "bare Map: set, delete": bareMap,
    },
    bounds: [
      { contender: "beside ready keys, with a discipline", atMost: 1 },
      { contender: "beside delayed keys, delayed itself", atMost: 1 },
      { contender: "beside failing keys, in a limiter", atMost: 1 },
      { contender: "beside processing keys", atMost: 3 },
    ],
  }),
};
