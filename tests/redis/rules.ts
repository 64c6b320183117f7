/**
 * Rules of a queue in memory, and how far they hold on Redis. This is the table of `docs/redis.md`, which
 * `rules_test.ts` checks.
 */

export type Verdict = "holds" | "holds in each process" | "does not hold";

/** Rule of the design, with its number. The texts are Markdown. */
export interface RuleOnRedis {
  readonly number: number;
  readonly rule: string;
  readonly verdict: Verdict;
  readonly why: string;
}

export const rulesOnRedis: readonly RuleOnRedis[] = [
  {
    number: 1,
    rule: "An item is ready, or held, or held and added again, and comes once for all its adds.",
    verdict: "holds",
    why: "For all processes together, by key: each call is one script, which nothing interrupts.",
  },
  {
    number: 2,
    rule: "No two hold an item at the same time.",
    verdict: "holds",
    why:
      "For as long as a lease lasts. A process that was not heard of for that long learns by the handler's `signal` that " +
      "others may work on its items, and what it says of them afterwards does not count, by `token`.",
  },
  {
    number: 3,
    rule: "Those who wait in `get` are served in their order, and an aborted `get` loses no item.",
    verdict: "holds in each process",
    why:
      "Between processes, who asks first is served first. An add wakes one that waits; if it does not come, another gets " +
      "the item.",
  },
  {
    number: 4,
    rule: "`done` of what is not held, or a second time, is ignored.",
    verdict: "holds",
    why: "The end of the work needs the token that the item was handed out with; any other is answered with `false`.",
  },
  {
    number: 5,
    rule: "`for await` ends the work on each item, and stops at a shutdown.",
    verdict: "holds in each process",
    why: "The shutdown is that of the queue object.",
  },
  {
    number: 6,
    rule: "After `shutDown` adds are ignored and what is ready is handed out; a drain waits until nothing is left.",
    verdict: "does not hold",
    why:
      "A shutdown concerns one process, and the queue goes on: this process takes nothing more, its adds reject, and a " +
      "drain waits for what it holds. What is ready or waits stays for others.",
  },
  {
    number: 7,
    rule:
      "The earlier of two deadlines counts, equal ones come in the order of their adds, and one timer does for a queue.",
    verdict: "holds",
    why:
      "In whole microseconds of the server's time, of which each add has its own. A deadline that is brought forward to " +
      "that of another item comes after it. `maxSleep` has no effect. No delay ends after the year 2255.",
  },
  {
    number: 8,
    rule: "`keyOf` says what the same item is, and the newest is handed out.",
    verdict: "holds",
    why:
      "Keys are strings, and items travel as JSON. There is one item a key, the newest of any add: in memory one that is " +
      "ready and one that waits may differ. A holder's retry never replaces it.",
  },
  {
    number: 9,
    rule: "Time never goes back, is no wall clock, and is faked with no set-up.",
    verdict: "does not hold",
    why:
      "Time is the server's clock, which a `clock` or fake timers do not move. For each queue it never goes back: it " +
      "goes on at the server's pace. If the clock jumps ahead, time has passed.",
  },
  {
    number: 10,
    rule: "A config is rejected whole, with every problem in it.",
    verdict: "holds in each process",
    why: "The server stores no config. What is not possible on Redis is refused with its place and the reason.",
  },
  {
    number: 11,
    rule: "Whatever a handler does costs its item a retry and nothing else.",
    verdict: "holds",
    why:
      "Failures are counted on the server, so attempts are failures + 1 whoever made them. What is given up is kept, the " +
      "newest 10,000, until it is added again.",
  },
  {
    number: 12,
    rule: "Priorities.",
    verdict: "does not hold",
    why: "Queues on Redis are first in, first out yet. A priority is refused.",
  },
  {
    number: 13,
    rule: "Fairness between groups.",
    verdict: "does not hold",
    why: "Queues on Redis are first in, first out yet. A `discipline` is refused.",
  },
  {
    number: 14,
    rule: "Nothing grows without bound unless the keys do.",
    verdict: "holds",
    why:
      "Of an item whose work has ended nothing is left but its failures and their last error, until they are forgotten. Of what was given up " +
      "and of tokens that were lost, the newest 10,000 are kept.",
  },
  {
    number: 15,
    rule: "What a crashed process held comes back, and poison is given up without its neighbours.",
    verdict: "holds",
    why:
      "After its lease, or one lease after the first gap in which no process was heard of. From its second lost holder on " +
      "it is tried alone, and after `maxStalls` it is given up.",
  },
  {
    number: 16,
    rule: "A reloaded document is rejected whole, or applies at once to what runs.",
    verdict: "holds in each process",
    why:
      "Each process follows its own document, from its next call on. Counts and tokens stay, whatever changes, and a bucket " +
      "has the rate and burst of the latest call. What is not possible on Redis rejects the document.",
  },
];

/** Returns the lines of the table. */
export function tableOfRules(): string[] {
  const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    row("", "rule", "on Redis", "why, and how far"),
    row("---", "---", "---", "---"),
    ...rulesOnRedis.map(({ number, rule, verdict, why }) => row(`${number}`, rule, verdict, why)),
  ];
}
