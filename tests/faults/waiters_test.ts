/** Tests of very many pending calls to `get`. */

import { assertEquals } from "@std/assert";
import { createWorkQueue } from "@workqueue/core";
import { outcome, randomNumbers } from "../queue_helpers.ts";

function shuffle<V>(values: V[], random: () => number): V[] {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [values[i], values[j]] = [values[j]!, values[i]!];
  }
  return values;
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

Deno.test("rule 3: 10,000 waiters aborted in random order are all rejected, each with its own reason", async () => {
  const queue = createWorkQueue<string>();
  const controllers = numbers(10_000).map(() => new AbortController());
  const reasons: unknown[] = [];
  const waits = controllers.map(({ signal }, i) => queue.get({ signal }).catch((reason) => reasons[i] = reason));
  for (const i of shuffle(numbers(10_000), randomNumbers(1))) controllers[i]!.abort(i);
  await Promise.all(waits);
  assertEquals(reasons, numbers(10_000));
  queue.add("a");
  assertEquals(await outcome(queue.get()), "a");
});

Deno.test("rule 3: while 100,000 waiters abort in random order, items go to the remaining ones, in order", async () => {
  const random = randomNumbers(2);
  const queue = createWorkQueue<number>();
  const controllers = numbers(100_000).map(() => new AbortController());
  const served: number[] = [];
  const rejected: number[] = [];
  const waits = controllers.map(({ signal }, i) =>
    queue.get({ signal }).then((lease) => lease.shutdown || served.push(i), (reason) => rejected.push(reason))
  );
  const order = shuffle(numbers(100_000), random);
  const stay = order.splice(0, 1000);
  let added = 0;
  for (const [aborted, i] of order.entries()) {
    controllers[i]!.abort(i);
    if (aborted % 1000 === 0) queue.add(added++);
  }
  for (let i = 0; i < stay.length / 2; i++) queue.add(added++);
  queue.shutDown();
  await Promise.all(waits);
  assertEquals(served.length, added);
  assertEquals(served, [...served].sort((a, b) => a - b));
  const wasServed = new Set(served);
  assertEquals(rejected.sort((a, b) => a - b), order.filter((i) => !wasServed.has(i)).sort((a, b) => a - b));
});
