/** Compile-time checks of disciplines. */

import { assertEquals } from "@std/assert";
import {
  createDefaultItemLimiter,
  createDelayingQueue,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  disciplines,
  type QueueDiscipline,
  type WorkQueue,
} from "@workqueue/core";
import { assertType, type Same } from "../helpers.ts";
import { Lifo } from "../queue_helpers.ts";

Deno.test("types: a discipline made without a type takes items of any type, in each layer", () => {
  const fair = createFairDiscipline({ separator: "/" });
  assertType<Same<typeof fair, QueueDiscipline<unknown>>>();
  const priority = createPriorityDiscipline();
  const built = disciplines.build({ type: "priority" });
  const queues: WorkQueue<string>[] = [
    createWorkQueue<string>({ discipline: fair }),
    createDelayingQueue<string>({ discipline: priority }),
    createRateLimitingQueue<string>(createDefaultItemLimiter(), { discipline: built }),
  ];
  const keyed = createWorkQueue({
    discipline: createPriorityDiscipline(),
    keyOf: ({ id }: { id: number }) => id,
  });
  assertType<Same<typeof keyed, WorkQueue<{ id: number }>>>();
  const typed: WorkQueue<string> = createWorkQueue({ discipline: createFairDiscipline({ separator: "/" }) });
  queues.push(typed, createWorkQueue({ discipline: new Lifo() }));
  createWorkQueue<{ tenant: string }>({ discipline: createFairDiscipline({ groupOf: ({ tenant }) => tenant }) });
  const untyped = createWorkQueue({ discipline: createPriorityDiscipline() });
  untyped.add("a");
  assertEquals([...queues, untyped].map(({ length }) => length), [0, 0, 0, 0, 0, 1]);
});

Deno.test("types: a discipline for items of one type sets the type of the queue", () => {
  const strings = createWorkQueue({ discipline: new Lifo<string>() });
  assertType<Same<typeof strings, WorkQueue<string>>>();
  const fair = createWorkQueue({ discipline: createFairDiscipline({ groupOf: (key: string) => key[0] }) });
  assertType<Same<typeof fair, WorkQueue<string>>>();
  // @ts-expect-error: the discipline is for strings
  const numbers = createWorkQueue<number>({ discipline: new Lifo<string>() });
  // @ts-expect-error: the function takes strings
  const grouped = createWorkQueue<number>({ discipline: createFairDiscipline({ groupOf: (key: string) => key[0] }) });
  assertEquals([strings, fair, numbers, grouped].map(({ length }) => length), [0, 0, 0, 0]);
});
