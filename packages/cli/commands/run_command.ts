import { availableParallelism } from "node:os";
import type { Readable } from "node:stream";
import { parseDuration } from "@workqueue/core";
import { openConfig, pickQueue } from "../run/config.ts";
import { openInput } from "../items/input.ts";
import type { OpenItem } from "../run/open_item.ts";
import { OutputError } from "../system/output_error.ts";
import { showProgress } from "../view/progress.ts";
import { RefusedLines } from "../items/refused_lines.ts";
import { openReport } from "../report/report.ts";
import { Run } from "../run/run.ts";
import { onSignals } from "../system/signals.ts";
import { stderr, stdout } from "../system/standard_streams.ts";
import { RunMetrics } from "../run/statistics.ts";
import { GivenUpItems, summarize } from "../view/summary.ts";
import { describeSystemError } from "../system/usage_error.ts";

/** How a run ended. */
export type RunEnd = "succeeded" | "incomplete" | "interrupted";

/** The options of `workqueue run`. */
export interface RunFlags {
  /** The config file. */
  readonly config?: string;
  /** The queue of the config. */
  readonly queue?: string;
  /** The file of the items, or `-`. */
  readonly input: string;
  /** Whether equal lines are one item. */
  readonly dedupe: boolean;
  /** How many commands run at once. */
  readonly concurrency?: number;
  /** The report file. */
  readonly report?: string;
}

const DEFAULT_MAX_RETRIES = 5;

/**
 * Does what `workqueue run` says, to its end.
 *
 * @param command The command and its arguments.
 * @param flags The options.
 * @param standardInput What the items are read from where no file is named.
 * @returns How it ended.
 * @throws {UsageError} If something is wrong that the user can put right.
 */
export async function runCommand(
  command: readonly string[],
  flags: RunFlags,
  standardInput: Readable,
): Promise<RunEnd> {
  const metrics = new RunMetrics();
  const config = openConfig(flags.config, metrics);
  const queueName = pickQueue(config, flags.queue);
  const queue = config.queue<OpenItem>(queueName, { keyOf: ({ key }) => key });
  const { concurrency, maxRetries = DEFAULT_MAX_RETRIES, timeout, ...workers } = config.workers(queueName);
  const input = openInput(flags.input, standardInput);
  const report = flags.report === undefined ? () => {} : openReport(flags.report, [
    { name: "the input", file: input.fd },
    { name: "the config", file: flags.config },
    { name: "the command", file: command[0]?.includes("/") ? command[0] : undefined },
    { name: "the standard output", file: 1 },
    { name: "the standard error", file: 2 },
  ]);
  const givenUp = new GivenUpItems();
  const refused = new RefusedLines();
  let isShort = false;

  const run = new Run({
    queue,
    concurrency: flags.concurrency ?? concurrency ?? availableParallelism(),
    workers: { ...workers, maxRetries },
    timeout: timeout === undefined ? undefined : parseDuration(timeout),
    command,
    input,
    isDistinct: flags.dedupe,
    onOutput: (lines) =>
      progress.write(lines).catch((error) => {
        throw new OutputError(error);
      }),
    onDecided: (item) => {
      report(item);
      givenUp.add(item);
    },
    onRefused: (lineNumber) => refused.add(lineNumber),
    onShortage: (error) => {
      if (!isShort) progress.note(`Fewer commands run at once, as ${describeSystemError(error, "command")}.`);
      isShort = true;
    },
  });
  const progress = showProgress(() => run.tally, stdout, stderr);
  const stopListening = onSignals(() => {
    const { inFlight } = run.tally;
    if (!run.isInterrupted && inFlight > 0) {
      progress.note(`Interrupted: waiting for ${inFlight} in flight. Once more kills them.`);
    }
    run.interrupt();
  }, () => run.kill());

  let failure: unknown;
  try {
    await run.finished;
  } catch (error) {
    failure = error;
  }
  progress.end();
  stopListening();
  const { tally } = run;
  if (failure === undefined || tally.hasBegun) stderr.write(summarize(tally, metrics, givenUp, refused));
  if (failure instanceof OutputError && failure.readerHasLeft) return "interrupted";
  if (failure !== undefined) throw failure;
  if (run.isInterrupted) return "interrupted";
  return tally.givenUp + tally.refused > 0 ? "incomplete" : "succeeded";
}
