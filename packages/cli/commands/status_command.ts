import type { RemoteBlockedGroup, RemoteQueueSnapshot } from "@workqueue/engine";
import { findQueue } from "../remote/find_queue.ts";
import { EXIT } from "../system/exit_codes.ts";
import { formatSeconds, printable } from "../system/text.ts";
import { retriesWaiting } from "../view/recent.ts";
import { print } from "./print.ts";
import type { StatusFlags } from "./status_flags.ts";

/** Number of failing items that the text shows. */
const SHOWN = 5;
/** Largest number of items in each list of the JSON. */
const LISTED = 100;

/**
 * Runs `workqueue status`: prints the contents of a queue that processes share.
 *
 * @param flags The options.
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, or the output can't be written.
 * @throws {Error} If the server or the file fails.
 */
export async function statusCommand(flags: StatusFlags): Promise<number> {
  const found = await findQueue(flags);
  const queue = found.open();
  try {
    const snapshot = await queue.snapshot({ limit: flags.json ? LISTED : SHOWN });
    await print(flags.json ? `${JSON.stringify(snapshot, undefined, 2)}\n` : describe(snapshot, found.file));
  } finally {
    queue.shutDown();
  }
  return EXIT.succeeded;
}

/** Reasons why items of a group are blocked. */
const WHY_BLOCKED: Record<RemoteBlockedGroup["reason"], string> = {
  paused: "the group is paused",
  probing: "the first item after a pause is not done yet",
  rate: "the rate of the group is reached",
  limit: "as many of the group are processing as may be",
};

function describe(snapshot: RemoteQueueSnapshot, file: string | undefined): string {
  const { name, paused, ready, blocked, delayed, processing, failing, givenUp, oldestReadyMs, delayedItems } = snapshot;
  const next = delayedItems[0]?.dueInMs;
  const oldest = formatSeconds(oldestReadyMs / 1000); // the oldest of the ready and the blocked items
  const rows: [name: string, value: string | number][] = [
    ["Queue", printable(name)],
    ...file !== undefined ? [["File", printable(file)] as [string, string]] : [],
    ...paused ? [["State", "paused"] as [string, string]] : [],
    ["Ready", ready === 0 || blocked > 0 ? ready : `${ready}, the oldest for ${oldest}`],
    ["Blocked", blocked],
    ...blocked > 0 ? [["Oldest", `ready or blocked for ${oldest}`] as [string, string]] : [],
    ["Delayed", next === undefined ? delayed : `${delayed}, the next is due in ${formatSeconds(next / 1000)}`],
    ["Processing", processing],
    ["Failing", failing],
    ["Given up", givenUp],
  ];
  const groups = (snapshot.blockedGroups ?? []).map(({ group, reason, blocked }) => {
    return `  ${blocked} of ${printable(group)}: ${WHY_BLOCKED[reason]}`;
  });
  const retries = retriesWaiting(snapshot);
  const why = [...groups, ...retries === undefined ? [] : [`  ${retries}`]];
  const errors = snapshot.failingItems.map(({ item, attempts, error }) =>
    `  ${printable(item)}: ${printable(error)} (${attempts === 1 ? "1 attempt" : `${attempts} attempts`})`
  );
  const lines = rows.flatMap(([name, value]) => [name.padEnd(12) + value, ...name === "Blocked" ? why : []]);
  return [...lines, ...errors, ""].join("\n");
}
