import {
  type Clock,
  createDefaultItemLimiter,
  createDelayingQueue,
  createRateLimitingQueue,
  InMemoryMetrics,
  type WorkQueueOptions,
} from "@workqueue/core";
import { HighestFirst } from "../queue_helpers.ts";
import { delayingQueueSuite } from "./delaying_queue_suite.ts";

const keyOf = (item: string) => item.toUpperCase();

/** Returns options of a queue that calls `onAdd`, through its metrics, for each item that becomes ready. */
function observed(clock: Clock, onAdd?: () => void): WorkQueueOptions<string> {
  if (onAdd === undefined) return { clock };
  const metrics = new InMemoryMetrics();
  metrics.adds = () => ({ inc: onAdd });
  return { clock, name: "q", metrics };
}

delayingQueueSuite("layer 2", (clock, onAdd) => createDelayingQueue(observed(clock, onAdd)));
delayingQueueSuite("layer 2 with keyOf", (clock, onAdd) => createDelayingQueue({ ...observed(clock, onAdd), keyOf }));
delayingQueueSuite(
  "layer 2 with a discipline",
  (clock, onAdd) => createDelayingQueue({ ...observed(clock, onAdd), discipline: new HighestFirst() }),
);
delayingQueueSuite(
  "layer 3",
  (clock, onAdd) => createRateLimitingQueue(createDefaultItemLimiter(), observed(clock, onAdd)),
);
