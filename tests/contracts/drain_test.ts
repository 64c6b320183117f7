import { createRateLimitingQueue } from "@workqueue/core";
import { HighestFirst } from "../queue_helpers.ts";
import { drainSuite } from "./drain_suite.ts";

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
