import type { ThrottleStore } from "@workqueue/engine";

/** Store of shared throttles for queues that have none: only a config document can give a queue a shared throttle. */
export const NO_THROTTLES: ThrottleStore = {
  permits: () => Promise.reject(new Error("Cannot share a throttle: queues in a file have no shared throttles")),
  tokens: () => Promise.reject(new Error("Cannot share a throttle: queues in a file have no shared throttles")),
  listen: () => Promise.resolve(() => {}),
  onReconnect: () => () => {},
};
