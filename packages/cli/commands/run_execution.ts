import type { ReportLock } from "../report/report_lock.ts";
import { RefusedLines } from "../items/refused_lines.ts";
import { Interruption } from "../run/interruption.ts";
import { MemorySource } from "../run/memory_source.ts";
import type { OpenItem } from "../run/open_item.ts";
import { Run, type RunSettings } from "../run/run.ts";
import { SharedSource } from "../run/shared_source.ts";
import { Suspension } from "../run/suspension.ts";
import { EXIT } from "../system/exit_codes.ts";
import { OutputError } from "../system/output_error.ts";
import { exitCodeOf } from "../system/signals.ts";
import { stderr, stdout } from "../system/standard_streams.ts";
import { describeSystemError } from "../system/usage_error.ts";
import type { Progress } from "../view/progress.ts";
import { GivenUpItems, summarize, unfinishedItems } from "../view/summary.ts";
import type { RunPlan } from "./run_plan.ts";
import type { PreparedRun } from "./run_preparation.ts";

/**
 * Runs the command for every item and prints a summary.
 *
 * @param plan The plan.
 * @param prepared The opened resources of the plan. This function closes them.
 * @param lock The lock of the report; `undefined` if there is no report.
 * @param hint Printed if a signal ends the run before all items are decided.
 * @returns The exit code.
 * @throws {Error} The error that ended the run; the first one, if there are several.
 */
export async function executeRun(
  plan: RunPlan,
  prepared: PreparedRun,
  lock: ReportLock | undefined,
  hint: string,
): Promise<number> {
  const { config, metrics, template, input, backlog, report, recorder, server, shared } = prepared;
  const givenUp = new GivenUpItems();
  const refused = new RefusedLines();

  // The code below runs in one turn of the event loop, so no callback is called before all objects exist.
  const progress: Progress = prepared.showProgress(() => run.tally, stdout, stderr);
  const note = (line: string) => progress.note(line);
  const watch = followConfig(prepared, note, (error) => interruption.fail(error));
  const settings: RunSettings = {
    config,
    template,
    input,
    backlog,
    separator: plan.separator,
    isDistinct: plan.isDistinct,
    giveUpOn: plan.giveUpOn,
    retryAfterOn: plan.retryAfterOn,
    retryAfterScope: plan.retryAfterScope,
    results: prepared.results,
    createOutput: (context) =>
      prepared.createOutput({
        isTagged: plan.isTagged,
        stderr: plan.stderr,
        print: (lines) =>
          progress.write(lines).catch((error) => {
            throw new OutputError(error);
          }),
        printError: (item, lines) => progress.writeError(item, lines),
      }, context),
    halt: plan.halt,
    onDecided: (item) => {
      report?.write(item);
      givenUp.add(item);
    },
    onRefused: (lineNumber, reason) => refused.add(lineNumber, reason),
    onShortage: noteOnce(note),
    onHalt: () => {
      const { givenUp } = run.tally;
      note(`Halted: ${givenUp === 1 ? "1 item was" : `${givenUp} items were`} given up.`);
    },
  };
  shared?.printWith(note);
  const run = startRun(settings, prepared);
  if (server !== undefined) progress.keep(`Dashboard: ${server.address}`);
  const interruption = new Interruption(run, lock, note);
  const suspension = new Suspension(run, progress);

  let failure = await errorOf(run.finished);
  failure ??= await errorOf(report?.close());
  const traceFailure = await errorOf(recorder?.end());
  failure ??= traceFailure;
  failure ??= interruption.error;
  await server?.[Symbol.asyncDispose]();
  watch?.[Symbol.dispose]();
  suspension[Symbol.dispose]();
  progress.end();
  interruption[Symbol.dispose]();

  const { tally } = run;
  const isWhole = tally.refused === 0 && tally.doneBefore + tally.succeeded === tally.items;
  const isWorthwhile = failure === undefined ? !(plan.progress === "quiet" && isWhole) : tally.hasBegun;
  if (isWorthwhile) stderr.write(summarize(tally, metrics, givenUp, refused));
  const missing = traceFailure === undefined ? recorder?.missing ?? 0 : 0;
  if (missing > 0) stderr.write(`Trace: ${missing === 1 ? "1 event is" : `${missing} events are`} missing.\n`);
  if (failure instanceof OutputError && failure.readerHasLeft) return EXIT.interrupted;
  if (failure !== undefined) throw failure;
  if (interruption.signal !== undefined) {
    if (unfinishedItems(tally) > 0 || shared?.endsWhenEmpty) stderr.write(`${hint}\n`);
    return exitCodeOf(interruption.signal);
  }
  return isWhole ? EXIT.succeeded : EXIT.incomplete;
}

type AnyRun = Run<OpenItem> | Run<string>;

/** Starts the run on its queue in memory, or on the queue that processes share. */
function startRun(settings: RunSettings, { config, recorder, server, shared }: PreparedRun): AnyRun {
  if (shared !== undefined) return new Run(settings, (run) => new SharedSource(settings, shared, run));
  let source!: MemorySource;
  const run = new Run(settings, (run) => source = new MemorySource(settings, run));
  recorder?.record(source.queue, run.pool);
  server?.show(source, run.pool, config);
  return run;
}

/**
 * Reloads the config whenever its file changes. If the config's hash changes, writes a new header to the report, so
 * that another run can resume the report.
 */
function followConfig(
  { config, header, report }: PreparedRun,
  note: (line: string) => void,
  fail: (error: unknown) => void,
): Disposable | undefined {
  let { hash } = header();
  return config.watch(note, () => {
    const changed = header();
    try {
      if (changed.hash !== hash) report?.write(changed);
    } catch (error) {
      fail(error);
    }
    hash = changed.hash;
  });
}

/** Returns a callback that reports only the first shortage. */
function noteOnce(note: (line: string) => void): (error: unknown) => void {
  let isNoted = false;
  return (error) => {
    if (!isNoted) note(`Running fewer commands at once: ${describeSystemError(error, "command")}.`);
    isNoted = true;
  };
}

/** Returns the error with which a promise rejects; `undefined` if the promise resolves. */
async function errorOf(promise: Promise<void> | undefined): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}
