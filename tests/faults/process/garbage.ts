/** Script that prints the items that a queue no longer needs but still keeps in memory. */

import {
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  type Lease,
  type RateLimitingQueue,
} from "../../../mod.ts";
import { collectLater } from "./collect.ts";

interface Item {
  readonly key: string;
}

const kept: unknown[] = [];
const items = new Map<string, WeakRef<Item>>();

/** Creates an item that only the queue will reference. */
function item(what: string, key = what): Item {
  const made = { key };
  items.set(what, new WeakRef(made));
  return made;
}

function newQueue(): RateLimitingQueue<Item> {
  const queue = createRateLimitingQueue<Item>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
    keyOf: ({ key }) => key,
  });
  kept.push(queue);
  return queue;
}

/** Separate function, so that no variable keeps a reference to an item. */
async function use(): Promise<void> {
  const queue = newQueue();
  queue.add(item("taken and done"));
  queue.tryGet()?.[Symbol.dispose]();

  queue.add(item("replaced by a newer one", "key"));
  queue.add({ key: "key" });
  queue.tryGet()?.[Symbol.dispose]();

  const waiter = queue.get();
  queue.add(item("given to one who waited"));
  (await waiter)[Symbol.dispose]();

  const pile = createWorkQueue<Item>();
  for (let i = 0; i < 1000; i++) pile.add(item(`of a pile ${i}`));
  const leases = Array.from({ length: 1000 }, () => pile.tryGet()!);
  kept.push(pile, leases.shift()!);
  for (const lease of leases) lease[Symbol.dispose]();

  queue.addRateLimited(item("failed and forgotten"));
  (await queue.get())[Symbol.dispose]();
  queue.forget({ key: "failed and forgotten" });

  queue.addAfter(item("replaced while it was delayed", "delayed"), 1);
  queue.addAfter({ key: "delayed" }, 1);
  (await queue.get())[Symbol.dispose]();

  queue.add({ key: "stale" });
  const lease: Lease<Item> | undefined = queue.tryGet();
  kept.push(lease);
  queue.add(item("handed out after a lease that is kept", "stale"));
  lease?.[Symbol.dispose]();
  queue.tryGet()?.[Symbol.dispose]();

  const shutDown = newQueue();
  shutDown.addAfter(item("dropped by a shutdown"), 3_600_000);
  shutDown.shutDown();
  const { signal } = new AbortController();
  kept.push(signal);
  const served = newQueue();
  const wait = served.get({ signal });
  served.add(item("given to one whose signal is kept"));
  (await wait)[Symbol.dispose]();
}

/**
 * Returns the items that should have been collected but weren't. Up to ten items of the queue `pile` are ignored,
 * because the script deliberately keeps one of that queue's leases.
 */
function itemsLeft(): string[] {
  for (const [what, reference] of items) if (reference.deref() === undefined) items.delete(what);
  const isOfPile = (what: string) => what.startsWith("of a pile");
  const left = [...items.keys()];
  return left.filter(isOfPile).length <= 10 ? left.filter((what) => !isOfPile(what)) : left;
}

await use();
for (let i = 0; i < 300 && itemsLeft().length > 0; i++) await collectLater();
for (const what of itemsLeft()) console.log(what);
console.log(`${kept.length} things kept`); // keeps these objects alive until here
