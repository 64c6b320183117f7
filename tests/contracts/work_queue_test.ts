import {
  adaptDiscipline,
  createDefaultItemLimiter,
  createDelayingQueue,
  createRateLimitingQueue,
  createWorkQueue,
  type QueueDiscipline,
  type ReadyEntry,
} from "@workqueue/core";
import { ArrayQueue } from "../third_party_queues.ts";
import { HighestFirst, OneOfAGroup } from "../queue_helpers.ts";
import { workQueueSuite } from "./work_queue_suite.ts";

const keyOf = (item: string) => item.toUpperCase();

class Fifo implements QueueDiscipline<string> {
  readonly #entries: ReadyEntry<string>[] = [];
  push = (entry: ReadyEntry<string>) => void this.#entries.push(entry);
  pop = () => this.#entries.shift();
  touch = () => {};
  constructor() {
    adaptDiscipline(this);
  }
  get length() {
    return this.#entries.length;
  }
}

workQueueSuite("layer 1", () => createWorkQueue());
workQueueSuite("layer 1 with keyOf", () => createWorkQueue({ keyOf }));
workQueueSuite("layer 1 with a discipline", () => createWorkQueue({ discipline: new Fifo() }));
workQueueSuite("layer 1 with a discipline and keyOf", () => createWorkQueue({ discipline: new Fifo(), keyOf }));
workQueueSuite("layer 1 with a discipline that blocks items", () => createWorkQueue({ discipline: new OneOfAGroup() }));
workQueueSuite("layer 2", () => createDelayingQueue());
workQueueSuite("layer 3", () => createRateLimitingQueue(createDefaultItemLimiter()));
workQueueSuite("layer 3 with keyOf", () => createRateLimitingQueue(createDefaultItemLimiter(), { keyOf }));
workQueueSuite(
  "layer 3 with a discipline",
  () => createRateLimitingQueue(createDefaultItemLimiter(), { discipline: new HighestFirst() }),
);
workQueueSuite("layer 2 that replaces delayed items", () => createDelayingQueue({ addWhileDelayed: "replace" }));
workQueueSuite("layer 2 that folds adds into retries", () => createDelayingQueue({ addWhileDelayed: "fold" }));
workQueueSuite("a third-party queue", () => new ArrayQueue());
