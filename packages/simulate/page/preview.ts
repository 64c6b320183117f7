import { loadConfig } from "@workqueue/core";
import type { Arrival } from "../load/arrival.ts";
import type { Load } from "../load/load.ts";
import { RandomNumbers } from "../random/random_numbers.ts";
import { arrivalsOf } from "../run/arrival_source.ts";
import { VirtualClock } from "../time/virtual_clock.ts";

const DELAYS = 10;
/** Number of items that are ready at once, for each group and priority. */
const READY = 3;
const SERVED = 20;
/** Maximum number of arrivals that are searched for groups and priorities. */
const ARRIVALS = 2000;

/** Delays and order that a config gives to the first items of a load. */
export interface Preview {
  /** Key that keeps failing. */
  readonly key: string;
  /** Delays before its first retries, in milliseconds. */
  readonly delays: readonly number[];
  /** Items in the order in which they are handed out if they are all ready at once. */
  readonly served: readonly Arrival[];
}

/** Asks the real queue of a config for the delays of a key that keeps failing, and for the order of ready items. */
export async function previewOf(document: object, name: string, load: Load, seed: number): Promise<Preview> {
  const items = firstOfEach(load, seed);
  const key = items[0]?.key ?? "item-0";
  return { key, delays: await delaysOf(document, name, key, seed), served: orderOf(document, name, items) };
}

async function delaysOf(document: object, name: string, key: string, seed: number): Promise<number[]> {
  const clock = new VirtualClock();
  const random = RandomNumbers.for(seed, "limiters");
  const config = loadConfig(document, { clock, random: () => random.uniform() });
  const queue = config.queue<string>(name);
  const count = Math.min(DELAYS, config.workers(name).maxRetries ?? DELAYS);
  const delays: number[] = [];
  while (delays.length < count) {
    const before = clock.now();
    queue.addRateLimited(key);
    await clock.run(Infinity, () => queue.length > 0);
    delays.push(clock.now() - before);
    queue.tryGet()?.[Symbol.dispose]();
  }
  queue.shutDown();
  return delays;
}

function orderOf(document: object, name: string, items: readonly Arrival[]): Arrival[] {
  const queue = loadConfig(document, { clock: new VirtualClock() }).queue<string>(name);
  const byKey = new Map(items.map((item) => [item.key, item]));
  for (const { key, priority } of items) queue.add(key, { priority });
  const served: Arrival[] = [];
  while (served.length < SERVED) {
    using lease = queue.tryGet();
    if (lease === undefined) break;
    served.push(byKey.get(lease.item)!);
  }
  queue.shutDown();
  return served;
}

/** Returns the first items of each group and priority, with distinct keys, in the order of their arrival. */
function firstOfEach(load: Load, seed: number): Arrival[] {
  const counts = new Map<string, number>();
  const byKey = new Map<string, Arrival>();
  let seen = 0;
  for (const arrival of arrivalsOf(load, seed)) {
    if (seen++ === ARRIVALS) break;
    const name = JSON.stringify([arrival.group, arrival.priority]);
    const count = counts.get(name) ?? 0;
    if (count === READY || byKey.has(arrival.key)) continue;
    counts.set(name, count + 1);
    byKey.set(arrival.key, arrival);
  }
  return [...byKey.values()];
}
