import {
  type Clock,
  createDefaultItemLimiter,
  createDelayingQueue,
  createRateLimitingQueue,
  InMemoryMetrics,
  type WorkQueueOptions,
} from "@workqueue/core";
import { ArrayQueue } from "../third_party_queues.ts";
import { HighestFirst } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";
import { delayingQueueSuite } from "./delaying_queue_suite.ts";

const other = await loadSecondCopy();
const keyOf = (item: string) => item.toUpperCase();

/** Returns options of a queue that calls `onAdd`, through its metrics, for each item that becomes ready. */
function observed(clock: Clock, onAdd?: () => void): WorkQueueOptions<string> {
  if (onAdd === undefined) return { clock };
  const metrics = new InMemoryMetrics();
  metrics.adds = () => ({ inc: onAdd });
  return { clock, name: "q", metrics };
}

class ObservedArrayQueue extends ArrayQueue<string> {
  readonly #onAdd: (() => void) | undefined;

  constructor(onAdd?: () => void) {
    super();
    this.#onAdd = onAdd;
  }

  override add(item: string): void {
    super.add(item);
    this.#onAdd?.();
  }
}

delayingQueueSuite("layer 2", (clock, onAdd) => createDelayingQueue(observed(clock, onAdd)));
delayingQueueSuite("layer 2 with keyOf", (clock, onAdd) => createDelayingQueue({ ...observed(clock, onAdd), keyOf }));
delayingQueueSuite(
  "layer 2 with a discipline",
  (clock, onAdd) => createDelayingQueue({ ...observed(clock, onAdd), discipline: new HighestFirst() }),
);
delayingQueueSuite(
  "layer 2 on a third-party layer 1",
  (clock, onAdd) => createDelayingQueue({ clock, queue: new ObservedArrayQueue(onAdd) }),
);
delayingQueueSuite(
  "layer 3",
  (clock, onAdd) => createRateLimitingQueue(createDefaultItemLimiter(), observed(clock, onAdd)),
);
delayingQueueSuite(
  "layer 3 on another copy's layer 2",
  (clock, onAdd) =>
    createRateLimitingQueue(createDefaultItemLimiter(), {
      queue: other.createDelayingQueue<string>(observed(onAdd === undefined ? clock : other.systemClock, onAdd)),
    }),
);
delayingQueueSuite(
  "layer 2 on another copy's layer 1",
  (clock, onAdd) => createDelayingQueue({ clock, queue: other.createWorkQueue<string>(observed(clock, onAdd)) }),
);
