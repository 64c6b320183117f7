/**
 * Script that runs many groups through fair queues, one after the other. The script prints the heap growth in bytes.
 */

import { createFairDiscipline, createPriorityDiscipline, createWorkQueue, type WorkQueue } from "../../../mod.ts";
import { FLAT_WORDS, growthSince, heapUsed } from "./collect.ts";

const plain = createWorkQueue<string>({ discipline: createFairDiscipline({ separator: "/" }) });
const bounded = createWorkQueue<string>({
  discipline: createFairDiscipline({ separator: "/", maxPerGroup: 1, within: () => createPriorityDiscipline() }),
});

/**
 * Three items of a group that never becomes empty. Because of this group, the queue is never empty either, and virtual
 * time advances.
 */
for (const queue of [plain, bounded]) for (let i = 0; i < 3; i++) queue.add(`steady/${i}`);

let groups = 0;

function work(queue: WorkQueue<string>, count: number): void {
  for (const last = groups + count; groups < last; groups++) {
    queue.add(`group ${groups}/key`);
    for (let turn = 0; turn < 2; turn++) {
      using lease = queue.tryGet();
      if (lease?.item.startsWith("steady")) queue.add(lease.item);
    }
  }
}

/** Queue in which ten items are always ready. Each item has a group of its own, so virtual time doesn't advance. */
const crowd = createWorkQueue<string>({ discipline: createFairDiscipline({ separator: "/" }) });
for (let i = 0; i < 10; i++) crowd.add(`crowd ${i}/key`);

function workOnCrowd(count: number): void {
  for (const last = groups + count; groups < last; groups++) {
    crowd.add(`group ${groups}/key`);
    crowd.tryGet()?.[Symbol.dispose]();
  }
}

workOnCrowd(20_000); // more groups than the discipline remembers
work(plain, 10_000); // warm-up, because one-time allocations are not leaks
work(bounded, 10_000);
const before = await heapUsed();
work(plain, 100_000);
work(bounded, 100_000);
workOnCrowd(100_000);
console.log(await growthSince(before, FLAT_WORDS));
console.log(plain.length + crowd.length + bounded.length + bounded.snapshot().blocked);
