import type { FoundQueue } from "../remote/find_queue.ts";
import { type AddedLines, describeAdded } from "../remote/add_lines.ts";
import type { ReportLock } from "../report/report_lock.ts";
import { stderr } from "../system/standard_streams.ts";
import { messageOf, printable } from "../system/text.ts";
import { executeRun } from "./run_execution.ts";
import type { RunPlan } from "./run_plan.ts";
import type { PreparedRun } from "./run_preparation.ts";

/** Milliseconds until an error of a file is printed, if the run has not ended because of it. */
const FILE_PAUSE = 1000;

/** Settings of {@linkcode executeOn} that differ between commands. */
export interface SharedExecution {
  /** Whether the run ends when its list is in the queue, and no item is ready, delayed or processing. */
  readonly endsWhenEmpty: boolean;
  /** Lock of the report; `undefined` if there is no report. */
  readonly lock: ReportLock | undefined;
  /** Printed if a signal ends the run early. */
  readonly hint: string;
}

/**
 * Returns the plan of a run whose items go through a queue that processes share.
 *
 * @param found The queue.
 * @param plan The plan of the command line.
 * @param hasList Whether the run adds a list to the queue.
 */
export function planOn({ name }: FoundQueue, plan: RunPlan, hasList: boolean): RunPlan {
  return { ...plan, queue: name, builtInQueue: name, ...hasList ? {} : { items: [], readsTerminal: false } };
}

/**
 * Adds the list of a run to a queue that processes share, and runs the command for the items of the queue. Prints a
 * summary.
 *
 * @param found The queue.
 * @param plan The plan.
 * @param prepared The opened resources of the plan. This function closes them.
 * @param settings The settings that differ between commands.
 * @returns The exit code.
 * @throws {UsageError} If the queue can't be opened.
 * @throws {Error} If the server or the file fails at the start, or an error ended the run.
 */
export async function executeOn(
  found: FoundQueue,
  plan: RunPlan,
  prepared: PreparedRun,
  { endsWhenEmpty, lock, hint }: SharedExecution,
): Promise<number> {
  let print = (line: string) => void stderr.write(`${line}\n`);
  const errors = new QueueErrors(found.file !== undefined, (line) => print(line));
  const onError = (error: unknown) => errors.note(error);
  const queue = found.openWith(prepared.config.config, onError);
  const outlastsFailures = found.file === undefined;
  const onAdded = (lines: AddedLines) => {
    if (lines.added > 0 && plan.progress !== "quiet") print(`${describeAdded(lines, ` to ${found.file}`)}.`);
  };
  const onWaiting = (items: number) => {
    if (plan.progress !== "quiet") print(describeWaiting(items));
  };
  let failure: unknown = undefined;
  try {
    await queue.counts(); // a server or a file that can't be used is found before a command starts
    const printWith = (other: typeof print) => void (print = other);
    const isShown = plan.progress !== "quiet";
    const shared = { queue, endsWhenEmpty, outlastsFailures, isShown, printWith, onAdded, onWaiting, onError };
    return await executeRun(plan, { ...prepared, shared }, lock, hint);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    errors.end(failure);
    queue.shutDown();
  }
}

function describeWaiting(items: number): string {
  const what = items === 1 ? "1 item that another process has" : `${items} items that other processes have`;
  return `Waiting for ${what}. Items of a killed process come back when its lease ends: by default, within 30 s.`;
}

/**
 * Errors of a queue, each printed once. Errors of a file are printed a little later: if they end the run, only the last
 * one is printed.
 */
class QueueErrors {
  readonly #isInFile: boolean;
  readonly #write: (line: string) => void;
  #last = "";
  #pending: unknown[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(isInFile: boolean, print: (line: string) => void) {
    this.#isInFile = isInFile;
    this.#write = print;
  }

  /** Prints an error, unless it equals the previous one. */
  note(error: unknown): void {
    const message = messageOf(error);
    if (message === this.#last) return;
    this.#last = message;
    this.#pending.push(error);
    if (this.#isInFile) this.#timer ??= setTimeout(() => this.#print(), FILE_PAUSE);
    else this.#print();
  }

  /** Prints the errors that were not printed yet, except those with the reason that ended the run. */
  end(failure: unknown): void {
    this.#pending = this.#pending.filter((error) => reasonOf(error) !== reasonOf(failure));
    this.#print();
  }

  #print(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const error of this.#pending.splice(0)) this.#write(`workqueue: ${printable(messageOf(error))}`);
  }
}

/** Returns the message of the first cause of an error. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : messageOf(error);
}
