import { copyQueue, type CopyResult, type RemoteQueue } from "@workqueue/engine";
import { formatNumber } from "@workqueue/core/internal";
import process from "node:process";
import { findQueue, type FoundQueue } from "../remote/find_queue.ts";
import { queueFileOf } from "../remote/queue_file.ts";
import type { QueueFlags } from "../remote/queue_flags.ts";
import { EXIT } from "../system/exit_codes.ts";
import { stderr } from "../system/standard_streams.ts";
import { printable, quoteAll } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";
import type { CopyFlags } from "./copy_flags.ts";
import { print } from "./print.ts";

/** Address of a server, followed by the name of a queue. */
const ON_SERVER = /^(rediss?:\/\/[^#]*)#(.*)$/s;

/** Exit codes after signals. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Runs `workqueue copy`: copies a queue that processes share to another one.
 *
 * @param from The queue to copy.
 * @param to The queue that receives the items.
 * @param flags The options.
 * @returns The exit code.
 * @throws {UsageError} If the command line is wrong, one of the queues can't be used, the target has items, or items of
 * the source are processing.
 */
export async function copyCommand(from: string, to: string, flags: CopyFlags): Promise<number> {
  const ends = [
    endOf(from, flags, flags.fromPartitions, "--from-partitions"),
    endOf(to, flags, flags.toPartitions, "--to-partitions"),
  ] as const;
  const { redis, cluster, ca } = flags;
  if (ends.every(({ isFile }) => isFile) && (redis ?? cluster ?? ca) !== undefined) {
    throw new UsageError("Cannot use --redis, --cluster or --ca: both queues are in files, not on a server");
  }
  const source = await findQueue(ends[0].flags);
  const target = await findQueue(ends[1].flags, true);
  let code: number = EXIT.succeeded;
  let isBegun = false;
  const stop = (signal: keyof typeof SIGNALS) => void (code = SIGNALS[signal]);
  for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) process.once(signal, stop);
  try {
    await using queues = new Queues(source, target);
    const { merge, processing } = flags;
    const onProgress = () => {
      isBegun = true;
      if (code !== EXIT.succeeded) throw new Error("Interrupted");
    };
    const result = await copyQueue(queues.source, queues.target, { merge, processing, onProgress });
    if (!flags.paused) await queues.target.resume();
    if (!flags.quiet) await print(describe(result, from, ends[0].flags, flags));
  } catch (error) {
    const { message } = error as Error;
    if (!isBegun) throw new UsageError(message + hintOf(message), { cause: error });
    const again = quoteAll(["workqueue", "copy", from, to, ...optionsOf({ ...flags, merge: true })]);
    const hint = `${printable(message)}. Both queues stay paused. To go on: ${again}`;
    if (code === EXIT.succeeded) throw new UsageError(hint, { cause: error });
    stderr.write(`${hint}\n`);
  } finally {
    for (const signal of Object.keys(SIGNALS)) process.removeListener(signal, stop);
  }
  return code;
}

/** Queue of a command line, as options name it. */
function endOf(text: string, { redis, cluster, ca }: CopyFlags, partitions: number | undefined, option: string) {
  if (queueFileOf(text) !== undefined) {
    if (partitions !== undefined) throw new UsageError(`Cannot use ${option}: '${text}' is a file`);
    return { isFile: true, flags: { queue: text } };
  }
  const [, url = redis, name = text] = ON_SERVER.exec(text) ?? [];
  if (name === "") throw new UsageError(`Cannot use queue '${text}': write its name after #`);
  const flags: QueueFlags = {
    queue: name,
    ...url !== undefined && { redis: url },
    ...cluster !== undefined && { cluster },
    ...ca !== undefined && { ca },
    ...partitions !== undefined && { partitions },
  };
  return { isFile: false, flags };
}

/** The two open queues. */
class Queues implements AsyncDisposable {
  readonly source: RemoteQueue<unknown>;
  readonly target: RemoteQueue<unknown>;

  constructor(source: FoundQueue, target: FoundQueue) {
    this.source = source.open() as RemoteQueue<unknown>;
    this.target = target.open() as RemoteQueue<unknown>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.source.shutDownWithDrain(), this.target.shutDownWithDrain()]);
  }
}

/** Returns options as words of a command line. */
function optionsOf(flags: QueueFlags | CopyFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const option = `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [option] : [option, String(value)];
  });
}

/** Returns what to do about a refusal, if an option helps. */
function hintOf(message: string): string {
  if (message.includes("is not empty")) {
    return "; to add to these items, or to go on after an interruption, give --merge";
  }
  if (message.includes("processing")) {
    return "; wait until they have ended, or give --processing to copy them as ready items";
  }
  return "";
}

function describe({ items, givenUp, dropped }: CopyResult, from: string, source: QueueFlags, { paused }: CopyFlags) {
  const count = (n: number, what: string) => `${formatNumber(n)} ${what}${n === 1 ? "" : "s"}`;
  const resume = quoteAll(["workqueue", "resume", ...optionsOf(source)]);
  return [
    `Copied ${count(items, "item")} and ${count(givenUp, "given-up item")}.`,
    ...dropped === 0 ? [] : [`${count(dropped, "given-up item")} dropped: the target keeps fewer.`],
    `${printable(`'${from}'`)} stays paused, so that no item runs twice. To resume it: ${resume}`,
    ...paused === undefined ? [] : ["The target is paused, too."],
    "",
  ].join("\n");
}
