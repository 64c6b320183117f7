import { requireOptions } from "../base/arguments.ts";
import { OPTIONS } from "../base/brands.ts";
import { invalidArgument } from "../base/errors.ts";
import type { AddOptions } from "../contracts/work_queue.ts";

const ACTION = "add item";

/** The priority among the options of an add. Unknown options are looked for only where there is no priority. */
export function priorityOf(options: AddOptions | undefined, known: readonly string[] = ["priority"]): number {
  if (options === undefined) return 0;
  const priority: unknown = (options as AddOptions | null)?.priority;
  if (priority === undefined) {
    requireOptions(ACTION, options, known);
    return 0;
  }
  if (!Number.isFinite(priority)) throw invalidArgument(ACTION, "priority", "must be a finite number", priority);
  return priority as number;
}

/** The options of an add with this priority. A queue that knows no options is given none where the priority is 0. */
export function withPriority(priority: number): AddOptions | undefined {
  return priority === 0 ? undefined : { priority };
}

/** Says that a queue's adds take options. As a field of its class it would keep bundlers from leaving the class out. */
export function markTakesOptions(queue: object): void {
  Object.defineProperty(queue, OPTIONS, { value: true });
}

export function takesOptions(queue: object): boolean {
  return (queue as { [OPTIONS]?: unknown })[OPTIONS] === true;
}

/** Likewise of an add that is passed on to this queue. One of somebody else's may take no priority: it would be lost there. */
export function priorityFor(queue: object, options: AddOptions | undefined, known?: readonly string[]): number {
  const priority = priorityOf(options, known);
  if (priority === 0 || takesOptions(queue)) return priority;
  throw new TypeError(
    `Cannot add item as the queue below takes no priority: received ${priority}. It has to take options in 'add', and ` +
      `to say so by [Symbol.for("workqueue.options")]`,
  );
}
