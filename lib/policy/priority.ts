/** Returns a priority within the bounds of an order. A priority that is not a number is the lowest one. */
export function priorityWithin(min: number, max: number, priority: number): number {
  return priority > max ? max : priority > min ? priority : min;
}

/**
 * Returns the time by which an item is handed out earlier than one with the priority `min` that became ready at the
 * same time.
 *
 * @param point The head start of one point of priority.
 */
export function headStartOf(min: number, point: number, priority: number): number {
  return (priority - min) * point; // relative to `min`, to keep numbers small
}
