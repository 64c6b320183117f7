import { createDelayingQueue, createRateLimitingQueue } from "@workqueue/core";
import { HighestFirst } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";
import { drainSuite } from "./drain_suite.ts";

const other = await loadSecondCopy();
const keyOf = (item: string) => item.toUpperCase();

drainSuite("layer 3", createRateLimitingQueue);
drainSuite("layer 3 with keyOf", (limiter, options) => createRateLimitingQueue(limiter, { ...options, keyOf }));
drainSuite(
  'layer 3 with addWhileDelayed: "replace"',
  (limiter, options) => createRateLimitingQueue(limiter, { ...options, addWhileDelayed: "replace" }),
);
drainSuite(
  'layer 3 with addWhileDelayed: "fold"',
  (limiter, options) => createRateLimitingQueue(limiter, { ...options, addWhileDelayed: "fold" }),
);
drainSuite(
  "layer 3 with a discipline",
  (limiter, options) => createRateLimitingQueue(limiter, { ...options, discipline: new HighestFirst() }),
);
drainSuite(
  "layer 3 on another copy's layer 2",
  (limiter, options) => createRateLimitingQueue(limiter, { queue: other.createDelayingQueue<string>(options) }),
);
drainSuite(
  "layer 3 on another copy's layer 1",
  (limiter, { clock, onDrop }) =>
    createRateLimitingQueue(limiter, {
      queue: createDelayingQueue<string>({ clock, onDrop, queue: other.createWorkQueue<string>({ clock }) }),
    }),
);
