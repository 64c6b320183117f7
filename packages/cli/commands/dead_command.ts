import type { GivenUpEntry, RedriveProgress } from "@workqueue/core";
import { formatNumber } from "@workqueue/core/internal";
import type { RemoteQueue } from "@workqueue/engine";
import { setTimeout as delay } from "node:timers/promises";
import { withQueue } from "../remote/with_queue.ts";
import { EXIT } from "../system/exit_codes.ts";
import { stderr } from "../system/standard_streams.ts";
import { formatSeconds, printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";
import type { DeadDiscardFlags, DeadListFlags, DeadRedriveFlags } from "./dead_flags.ts";
import { print } from "./print.ts";

/** Maximum number of items on a page of a list. */
const PAGE = 1000;
/** Interval between two looks at a redrive, in milliseconds. */
const LOOK_EVERY = 200;

/**
 * Runs `workqueue dead list`: prints given-up items, the newest first.
 *
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid or the server or the file can't be used.
 */
export async function deadListCommand(flags: DeadListFlags): Promise<number> {
  return await withQueue(flags, async (queue) => {
    const { search, limit, json } = flags;
    const line = json ? jsonLine : textLine;
    let cursor: string | undefined;
    let shown = 0;
    let total: number;
    do {
      const page: Awaited<ReturnType<RemoteQueue["givenUp"]>> = await queue.givenUp({
        search,
        cursor,
        limit: Math.min(limit - shown, PAGE),
      });
      if (!await print(page.items.map(line).join(""))) return EXIT.succeeded; // the reader has left
      shown += page.items.length;
      ({ cursor, total } = page);
    } while (cursor !== undefined && shown < limit);
    if (!json) await print(`${many(shown)} of ${many(total, "given-up item")}\n`);
    return EXIT.succeeded;
  });
}

/**
 * Runs `workqueue dead redrive`: adds given-up items again and waits until all are added, or stops the running redrive.
 *
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid or the server or the file can't be used.
 */
export async function deadRedriveCommand(flags: DeadRedriveFlags): Promise<number> {
  const { search, key: keys, rate, stop } = flags;
  if (stop && (search ?? keys ?? rate) !== undefined) {
    throw new UsageError("Cannot stop redrive: --stop takes no other options than those that name the queue");
  }
  return await withQueue(flags, async (queue) => {
    if (stop) {
      const before = await queue.redriveProgress();
      if (!before?.running) await print("No redrive is running.\n");
      else await print(`Stopped: ${added(await queue.stopRedrive() ?? before)}.\n`);
      return EXIT.succeeded;
    }
    if ((await queue.redriveProgress())?.running) {
      stderr.write("workqueue: a redrive of this queue is running; wait until it ends, or stop it with --stop\n");
      return EXIT.incomplete;
    }
    let progress = await queue.redrive({ search, keys, rate });
    while (progress.running) {
      await delay(LOOK_EVERY);
      progress = await queue.redriveProgress() ?? progress;
    }
    await print(`${added(progress)}.\n`);
    return progress.left > 0 ? EXIT.incomplete : EXIT.succeeded;
  });
}

/**
 * Runs `workqueue dead discard`: forgets given-up items.
 *
 * @returns The exit code.
 * @throws {UsageError} If no items are selected, or the server or the file can't be used.
 */
export async function deadDiscardCommand(flags: DeadDiscardFlags): Promise<number> {
  const { search, key: keys, all } = flags;
  const isSelected = (search ?? "") !== "" || keys !== undefined; // an empty text finds all items
  if (isSelected === (all ?? false)) {
    throw new UsageError("Cannot discard items: select them with --search or --key, or give --all for all of them");
  }
  return await withQueue(flags, async (queue) => {
    await print(`${many(await queue.discard({ search, keys }), "item")} discarded.\n`);
    return EXIT.succeeded;
  });
}

function textLine({ key, attempts, reason, error, givenUpAgoMs }: GivenUpEntry<string>): string {
  const what = `${many(attempts, "attempt")}, ${reason}, ${formatSeconds(givenUpAgoMs / 1000)} ago`;
  return `${printable(String(key))}: ${printable(error)} (${what})\n`;
}

function jsonLine(
  { key, attempts, reason, error, group, firstFailedAgoMs, givenUpAgoMs }: GivenUpEntry<string>,
): string {
  const times = { firstFailedAgoMs: Math.round(firstFailedAgoMs), givenUpAgoMs: Math.round(givenUpAgoMs) };
  return `${JSON.stringify({ key, error, attempts, reason, group, ...times })}\n`;
}

function added({ redriven, left }: RedriveProgress): string {
  const others = left > 0 ? `; ${formatNumber(left)} left` : "";
  return `${many(redriven, "item")} added again${others}`;
}

function many(count: number, noun?: string): string {
  if (noun === undefined) return formatNumber(count);
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}
