import type { RuleOnEngine } from "../contracts/engine_rules.ts";

/** Rules of in-memory queues, and whether they hold on Redis. `docs/redis/differences.md` has them as a table. */
export const rulesOnRedis: readonly RuleOnEngine[] = [
  {
    number: 1,
    rule: "One entry per key",
    verdict: "holds",
    why: "For all processes together: each call is one atomic script.",
  },
  {
    number: 2,
    rule: "One holder per key",
    verdict: "holds",
    why: "While its [lease](leases.md#leases-and-stalls) lasts.",
  },
  {
    number: 3,
    rule: "Callers of `get` are served in order",
    verdict: "holds in each process",
    why: "Processes are served in the order in which they ask.",
  },
  {
    number: 4,
    rule: "A second `done` changes nothing",
    verdict: "holds",
    why: "An outcome needs the token of its lease. Otherwise, the call returns `false`.",
  },
  {
    number: 5,
    rule: "`for await` marks items done",
    verdict: "holds in each process",
    why: "The loop ends when the queue object of the process is shut down.",
  },
  {
    number: 6,
    rule: "Shutdown",
    verdict: "does not hold",
    why: "[A shutdown](leases.md#shutting-down) affects one process.",
  },
  {
    number: 7,
    rule: "Delays",
    verdict: "holds",
    why:
      "In whole microseconds of [the server's time](leases.md#time). An item whose delay is shortened becomes ready after items with the same deadline.",
  },
  {
    number: 8,
    rule: "Items with equal keys are one item",
    verdict: "holds",
    why: "Each key has the item of its newest add, which no retry replaces.",
  },
  {
    number: 9,
    rule: "Time",
    verdict: "does not hold",
    why: "[Time](leases.md#time) is the server's. Fake timers have no effect.",
  },
  {
    number: 10,
    rule: "Input is checked",
    verdict: "holds in each process",
    why: "The server stores no config.",
  },
  {
    number: 11,
    rule: "Errors stay where they happen",
    verdict: "holds",
    why: "The server counts an item's failed attempts, whichever process they happen in.",
  },
  {
    number: 12,
    rule: "Priority",
    verdict: "holds",
    why:
      "For all processes together, in [the order of the discipline](limits.md#priorities-and-groups). Items that are handed back keep their places.",
  },
  {
    number: 13,
    rule: "Fairness",
    verdict: "holds",
    why:
      "For all processes together. `maxPerGroup` counts [tokens](limits.md#priorities-and-groups): the handler of a lost process may still run.",
  },
  {
    number: 14,
    rule: "Memory is bounded",
    verdict: "holds",
    why: "A done item leaves only its failures, until they are forgotten.",
  },
  {
    number: 15,
    rule: "Lost processes",
    verdict: "holds",
    why: "[Leases](leases.md#leases-and-stalls), [poison items](leases.md#poison-items)",
  },
  {
    number: 16,
    rule: "Reload",
    verdict: "holds in each process",
    why: "Each process follows [its own config](options.md#reloading-a-config).",
  },
  {
    number: 18,
    rule: "Retry budget",
    verdict: "holds",
    why:
      "For all processes together: [retry budgets](limits.md#retry-budgets). Items of lost processes need no budget.",
  },
  {
    number: 22,
    rule: "Cancelling",
    verdict: "holds",
    why:
      "For all processes together. The process that works on the item learns of the cancel from a message or, at the latest, when it renews its lease.",
  },
  {
    number: 23,
    rule: "Results",
    verdict: "holds",
    why:
      "For all processes together, and only for [results](control.md#waiting-for-results) that a process stores. Otherwise, calls resolve to `undefined`.",
  },
  {
    number: 24,
    rule: "The newest wins",
    verdict: "holds",
    why:
      "For all processes together. The process that works on the item learns of the add from a message or, at the latest, when it renews its lease.",
  },
];
