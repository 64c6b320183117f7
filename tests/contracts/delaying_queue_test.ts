import { createDefaultItemLimiter, createDelayingQueue, createRateLimitingQueue } from "@workqueue/core";
import { ArrayQueue } from "../foreign_queues.ts";
import { HighestFirst } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";
import { delayingQueueSuite } from "./delaying_queue_suite.ts";

const other = await loadSecondCopy();
const keyOf = (item: string) => item.toUpperCase();

delayingQueueSuite("layer 2", (clock) => createDelayingQueue({ clock }));
delayingQueueSuite("layer 2 with keyOf", (clock) => createDelayingQueue({ clock, keyOf }));
delayingQueueSuite(
  "layer 2 with a discipline",
  (clock) => createDelayingQueue({ clock, discipline: new HighestFirst() }),
);
delayingQueueSuite(
  "layer 2 on a foreign layer 1",
  (clock) => createDelayingQueue({ clock, queue: new ArrayQueue<string>() }),
);
delayingQueueSuite("layer 3", (clock) => createRateLimitingQueue(createDefaultItemLimiter(), { clock }));
delayingQueueSuite(
  "layer 3 on another copy's layer 2",
  (clock) =>
    createRateLimitingQueue(createDefaultItemLimiter(), { queue: other.createDelayingQueue<string>({ clock }) }),
);
delayingQueueSuite(
  "layer 2 on another copy's layer 1",
  (clock) => createDelayingQueue({ clock, queue: other.createWorkQueue<string>({ clock }) }),
);
