import { requireExtensible } from "../base/arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import type { QueueDiscipline, QueueDisciplineFor } from "../contracts/discipline.ts";
import { DisciplineOrder } from "./discipline_order.ts";
import { brings, ORDER } from "./opt_ins.ts";
import { isDiscipline } from "./options.ts";
import { setOrderMaker } from "./ordering.ts";

/**
 * Prepares a discipline of your own for queues, which then call its methods. Built-in disciplines, and disciplines that
 * a registry builds, need no preparation. Programs without disciplines of their own don't contain the code for them.
 *
 * @example Last in, first out
 * ```ts
 * import { adaptDiscipline, createWorkQueue, type QueueDiscipline, type ReadyEntry } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * class Lifo<T> implements QueueDiscipline<T> {
 *   #entries: ReadyEntry<T>[] = [];
 *   push(entry: ReadyEntry<T>) {
 *     this.#entries.push(entry);
 *   }
 *   pop() {
 *     return this.#entries.pop();
 *   }
 *   touch() {}
 *   get length() {
 *     return this.#entries.length;
 *   }
 * }
 *
 * const queue = createWorkQueue<string>({ discipline: adaptDiscipline(new Lifo<string>()) });
 * queue.add("first");
 * queue.add("second");
 * assertEquals(queue.tryGet()?.item, "second");
 * ```
 *
 * @typeParam D The type of the discipline.
 * @param own The discipline. It gets a symbol as a property, so it must not be frozen.
 * @returns The same discipline.
 * @throws {TypeError} If `own` is not a discipline, or can't get a property.
 */
export function adaptDiscipline<D extends QueueDisciplineFor<never>>(own: D): D {
  if (!isDiscipline(own)) {
    throw invalidArgument("adapt discipline", "own", "must have the methods push, pop and touch, and a length", own);
  }
  if (brings(own, ORDER)) return own;
  requireExtensible("adapt discipline", own);
  setOrderMaker(own, (given, records, clock) => new DisciplineOrder(given as QueueDiscipline<unknown>, records, clock));
  return own;
}
