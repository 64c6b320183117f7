import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import type { LoadConfigOptions } from "@workqueue/core";
import { Backlog } from "../items/backlog.ts";
import { CommandTemplate } from "../items/command_template.ts";
import { bytesOf, type Input, openInput } from "../items/input.ts";
import { RefusedLines } from "../items/refused_lines.ts";
import { type EarlierReport, readEarlierReport } from "../report/earlier_report.ts";
import { hashOf, type ReportHeader } from "../report/records.ts";
import { openReport, type Report } from "../report/report.ts";
import { lockReport, type ReportLock } from "../report/report_lock.ts";
import { Run } from "../run/run.ts";
import { RunConfig } from "../config/run_config.ts";
import { RunMetrics } from "../run/statistics.ts";
import type { DashboardServer } from "../view/dashboard_server.ts";
import { EXIT } from "../system/exit_codes.ts";
import { OutputError } from "../system/output_error.ts";
import { exitCodeOf, onSignals, onUncaught } from "../system/signals.ts";
import { keepHeapSmall } from "../system/small_heap.ts";
import { stderr, stdout } from "../system/standard_streams.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { isLive, type Progress, showProgress } from "../view/progress.ts";
import { VERSION } from "../version.ts";
import { GivenUpItems, summarize } from "../view/summary.ts";
import { printCommands } from "./dry_run.ts";
import { print } from "./print.ts";
import { overridesOf, type RunFlags } from "./run_flags.ts";

/** What is known of a run before it begins. */
interface Plan {
  readonly config: RunConfig;
  readonly metrics: RunMetrics;
  readonly template: CommandTemplate;
  readonly input: Input;
  readonly backlog: Backlog;
  readonly server: DashboardServer | undefined;
  readonly report: Report | undefined;
  readonly lock: ReportLock | undefined;
  /** What the report says of the work, by the config that is in force. */
  header(): ReportHeader;
}

/**
 * Does what `workqueue run` says, to its end.
 *
 * @param command The command and its arguments.
 * @param flags The options.
 * @param standardInput What the items are read from where no file is named.
 * @returns The exit code.
 * @throws {UsageError} If something is wrong that the user can put right.
 */
export async function runCommand(
  command: readonly string[],
  flags: RunFlags,
  standardInput: Readable,
): Promise<number> {
  if (flags.report !== undefined && flags.resume !== undefined) {
    throw new UsageError("Cannot write a report beside the one that --resume goes on with: leave out --report");
  }
  if (flags.json && flags.groupBy !== undefined) {
    throw new UsageError("Cannot group lines of JSON by a separator: leave out --json or --group-by");
  }
  keepHeapSmall();
  const path = flags.resume ?? flags.report;
  const lock = path === undefined || flags.dryRun ? undefined : await lockReport(path);
  try {
    return await prepareAndWork(command, flags, standardInput, lock);
  } finally {
    lock?.[Symbol.dispose]();
  }
}

async function prepareAndWork(
  command: readonly string[],
  flags: RunFlags,
  standardInput: Readable,
  lock: ReportLock | undefined,
): Promise<number> {
  const metrics = new RunMetrics();
  const load: LoadConfigOptions = { metrics, ...await loadPlugins(flags.plugin) };
  const config = await RunConfig.open({ path: flags.config, queue: flags.queue, overrides: overridesOf(flags), load });
  const readMembers = flags.json ? (await import("../items/json_members.ts")).readMembers : undefined;
  const template = new CommandTemplate(command, { readMembers, appends: flags.append });
  const header = () => headerOf(command, flags, config);
  const earlier = flags.resume === undefined ? undefined : await readEarlierReport(flags.resume, header());
  const input = openInput(flags.input, standardInput);
  const backlog = new Backlog({ isDistinct: flags.dedupe, done: earlier?.done });
  if (flags.dryRun) return await dryRun(flags, { template, input, backlog });
  if (input.fd === 0 && isatty(0)) stderr.write("Reading the list from the terminal: Ctrl-D ends it.\n");
  const server = flags.serve === undefined ? undefined : await openServer(flags.serve);
  const report = openReportOf(flags, header(), earlier, [
    { name: "the input", file: input.fd },
    { name: "the config", file: flags.config },
    { name: "the command", file: command[0]?.includes("/") ? command[0] : undefined },
    { name: "the standard output", file: 1 },
    { name: "the standard error", file: 2 },
  ]);
  return await work(flags, { config, metrics, template, input, backlog, server, report, lock, header });
}

/** What options say of retries, rates and the like is not in it: somebody may go on, and be gentler. */
function headerOf(command: readonly string[], flags: RunFlags, { document }: RunConfig): ReportHeader {
  const reading = [
    ...(flags.json ? ["--json"] : []),
    ...(flags.null ? ["--null"] : []),
    ...(flags.dedupe ? [] : ["--no-dedupe"]),
    ...(flags.append ? [] : ["--no-append"]),
  ];
  return { workqueue: VERSION, hash: hashOf({ command, reading, document }), command, reading };
}

function openReportOf(
  { report, resume }: RunFlags,
  header: ReportHeader,
  earlier: EarlierReport | undefined,
  used: Parameters<typeof openReport>[1]["used"],
): Report | undefined {
  const path = resume ?? report;
  return path === undefined ? undefined : openReport(path, { header, resumes: resume !== undefined, earlier, used });
}

async function dryRun(flags: RunFlags, { template, input, backlog }: Pick<Plan, "template" | "input" | "backlog">) {
  const refused = new RefusedLines();
  const options = {
    separator: separatorOf(flags),
    fault: (line: string) => template.fault(line),
    onRefused: (lineNumber: number, reason: string) => refused.add(lineNumber, reason),
  };
  await printCommands(bytesOf(input), options, backlog, template, print);
  for (const line of refused.describe()) stderr.write(line + "\n");
  return refused.count > 0 ? EXIT.incomplete : EXIT.succeeded;
}

async function work(
  flags: RunFlags,
  { config, metrics, template, input, backlog, server, report, lock, header }: Plan,
): Promise<number> {
  const givenUp = new GivenUpItems();
  const refused = new RefusedLines();
  let isShort = false;
  let signalled: NodeJS.Signals | undefined;
  let uncaught: unknown;

  let { hash } = header();
  const watch = await config.watch((message) => progress.note(message), () => {
    const changed = header();
    try {
      if (changed.hash !== hash) report?.write(changed); // so that another run can go on with the config as it is
    } catch (error) {
      end(error);
    }
    hash = changed.hash;
  });
  const progress: Progress = await showProgress(() => run.tally, stdout, stderr, { isQuiet: flags.quiet === true });
  const run = new Run({
    config,
    template,
    input,
    separator: separatorOf(flags),
    backlog,
    isDistinct: flags.dedupe,
    isTagged: flags.tag === true,
    halt: flags.halt,
    onOutput: (lines) =>
      progress.write(lines).catch((error) => {
        throw new OutputError(error);
      }),
    onErrorOutput: isLive(stderr) && !flags.quiet ? (item, lines) => progress.writeError(item, lines) : undefined,
    onDecided: (item) => {
      report?.write(item);
      givenUp.add(item);
    },
    onRefused: (lineNumber, reason) => refused.add(lineNumber, reason),
    onShortage: (error) => {
      if (!isShort) progress.note(`Fewer commands run at once, as ${describeSystemError(error, "command")}.`);
      isShort = true;
    },
    onHalt: () => {
      const { givenUp } = run.tally;
      progress.note(`Halted, as ${givenUp === 1 ? "1 item was" : `${givenUp} items were`} given up.`);
    },
  });
  server?.show(run, config);
  if (server !== undefined) progress.note(`Dashboard: ${server.address}`);
  const end = (error: unknown) => {
    uncaught ??= error;
    run.kill();
  };
  onUncaught(end);
  lock?.lost.addEventListener("abort", () => end(lock.lost.reason));
  const stopListening = onSignals((signal) => {
    const { inFlight } = run.tally;
    if (!run.isInterrupted && inFlight > 0) {
      progress.note(`Interrupted: waiting for ${inFlight} in flight. Once more kills them.`);
    }
    signalled ??= signal;
    run.interrupt();
  }, (signal) => {
    signalled ??= signal;
    run.kill();
  });

  let failure = await errorOf(run.finished);
  failure ??= await errorOf(report?.close());
  failure ??= uncaught;
  await server?.[Symbol.asyncDispose]();
  watch?.[Symbol.dispose]();
  progress.end();
  stopListening();
  const { tally } = run;
  const isWhole = tally.refused === 0 && tally.doneBefore + tally.succeeded === tally.items;
  const isWorthwhile = failure === undefined ? !(flags.quiet && isWhole) : tally.hasBegun;
  if (isWorthwhile) stderr.write(summarize(tally, metrics, givenUp, refused));
  if (failure instanceof OutputError && failure.readerHasLeft) return EXIT.interrupted;
  if (failure !== undefined) throw failure;
  if (signalled !== undefined) return exitCodeOf(signalled);
  return isWhole ? EXIT.succeeded : EXIT.incomplete;
}

/** What a promise rejects with; `undefined` if it does not. */
async function errorOf(promise: Promise<void> | undefined): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}

async function openServer(port: true | number): Promise<DashboardServer> {
  const { DashboardServer } = await import("../view/dashboard_server.ts");
  return await DashboardServer.open(port === true ? 0 : port);
}

async function loadPlugins(paths: readonly string[] = []): Promise<LoadConfigOptions> {
  return paths.length === 0 ? {} : await (await import("../config/plugins.ts")).loadPlugins(paths);
}

function separatorOf(flags: RunFlags): "NUL" | "line feed" {
  return flags.null ? "NUL" : "line feed";
}
