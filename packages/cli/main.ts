/**
 * The command `workqueue`: runs a command for each line of a list, through a work queue with retries and
 * backoff.
 *
 * ```sh
 * workqueue run --config queues.yaml --input urls.txt --report report.jsonl -- curl -fsSO {}
 * ```
 *
 * The child finds the item in its arguments, where `{}` stands, and in the environment as `WORKQUEUE_ITEM`;
 * `WORKQUEUE_ATTEMPT` is 1 the first time, and one more each time it is tried again. The report is described
 * by the type `ItemReport` in `report.ts`.
 *
 * Exit codes: 0 if all items succeeded, 1 if some were given up, 2 for an error of usage or config, 130 if
 * the run was interrupted.
 *
 * @module
 */

import { createReadStream, openSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import type { Readable } from "node:stream";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { loadConfigFile, pickQueue } from "./config_file.ts";
import self from "./deno.json" with { type: "json" };
import { showProgress } from "./progress.ts";
import { openReport } from "./report.ts";
import { Run } from "./run.ts";
import { RunMetrics } from "./statistics.ts";
import { GivenUpItems, summarize } from "./summary.ts";
import { describeSystemError, UsageError } from "./usage_error.ts";

const SUCCESS = 0;
const GIVEN_UP = 1;
const USAGE = 2;
const INTERRUPTED = 130;

const DEFAULT_MAX_RETRIES = 5;
const MAX_CONCURRENCY = 10_000;
const STANDARD_INPUT = "-";

const RUN_NOTES = `
The command also finds the item in WORKQUEUE_ITEM, and in WORKQUEUE_ATTEMPT how
often it has been tried for it, 1 the first time. No shell is involved.

Exit codes:
  0    the command succeeded for every item
  1    some items were given up
  2    the command line, the config, a file or the command is wrong
  130  interrupted: Ctrl-C once waits for what runs, twice kills it

Example:
  workqueue run --input urls.txt --report report.jsonl -- curl -fsSO {}`;

/** The options of `workqueue run`, as commander parses them. */
interface RunFlags {
  config?: string;
  queue?: string;
  input: string;
  concurrency?: number;
  report?: string;
}

/**
 * Runs the command line.
 *
 * @param args The arguments, without the names of the runtime and the script.
 * @param standardInput What the items are read from where no file is named.
 * @returns The exit code.
 */
export async function main(args: string[], standardInput: Readable = process.stdin): Promise<number> {
  let exitCode = SUCCESS;
  const program = new Command("workqueue")
    .description("Works through a list of items, with retries and backoff.")
    .version(self.version)
    .enablePositionalOptions()
    .exitOverride();
  program.command("run")
    .description(
      "Runs a command for each distinct line of a list, and again, later, for those it fails for." +
        " Where neither the config nor an option says otherwise, as many commands run at once as there are processors," +
        " and an item is tried again 5 times, after 100 ms and then twice as long each time, up to 30 s.",
    )
    .usage("[options] -- COMMAND [ARG with {} …]")
    .argument("<command...>", "the command and its arguments, in which {} stands for the item")
    .option("--config <file>", "a config of queues and limiters: .json, .jsonc, .yaml, .yml or .toml")
    .option("--queue <name>", "the queue of the config to use; needed if it has several and none named default")
    .option("--input <file>", "the list, one item a line; - is standard input", STANDARD_INPUT)
    .option(
      "--concurrency <n>",
      "how many commands run at once (default: as the config says, else the processors)",
      parseConcurrency,
    )
    .option("--report <file>", "write what became of each item there, one line of JSON each")
    .addHelpText("after", RUN_NOTES)
    .passThroughOptions()
    .action(async (command: string[], flags: RunFlags) => {
      exitCode = await runCommand(command, flags, standardInput);
    });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : USAGE; // it has said why
    process.stderr.write(`workqueue: ${error instanceof Error ? error.message : error}\n`);
    return USAGE;
  }
  return exitCode;
}

async function runCommand(command: string[], flags: RunFlags, standardInput: Readable): Promise<number> {
  const metrics = new RunMetrics();
  const config = loadConfigFile(flags.config, metrics);
  const queueName = pickQueue(config, flags.queue);
  const queue = config.queue<string>(queueName);
  const input = flags.input === STANDARD_INPUT ? standardInput : openInput(flags.input);
  if (flags.report !== undefined) refuseSameFile(flags.input, flags.report);
  const report = flags.report === undefined ? () => {} : openReport(flags.report);
  const givenUp = new GivenUpItems();

  const run = new Run({
    queue,
    workers: {
      concurrency: availableParallelism(),
      maxRetries: DEFAULT_MAX_RETRIES,
      ...config.workers(queueName),
      ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
    },
    command,
    input,
    inputName: flags.input === STANDARD_INPUT ? "standard input" : `input '${flags.input}'`,
    onOutput: (lines) => progress.write(lines),
    onDecided: (item) => {
      report(item);
      givenUp.add(item);
    },
  });
  const progress = showProgress(() => run.tally, process.stdout, process.stderr);

  const interrupt = () => {
    const { inFlight } = run.tally;
    if (!run.isInterrupted && inFlight > 0) {
      progress.note(`Interrupted: waiting for ${inFlight} in flight. Once more kills them.`);
    }
    run.interrupt();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  process.on("SIGHUP", interrupt); // the terminal was closed: its children would run on by themselves
  // Whoever read the output has left, as `head` does: there is no point in going on.
  process.stdout.on("error", () => {
    if (!run.isInterrupted) run.interrupt();
  });

  try {
    await run.finished;
  } finally {
    progress.end();
  }
  process.stderr.write(summarize(run.tally, metrics, givenUp));
  if (run.isInterrupted) return INTERRUPTED;
  return run.tally.givenUp > 0 ? GIVEN_UP : SUCCESS;
}

/** Opening the report empties it: that must not be the input. */
function refuseSameFile(input: string, report: string): void {
  const [a, b] = [input, report].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (a !== undefined && a.isFile() && a.ino === b?.ino && a.dev === b.dev) {
    throw new UsageError(`Cannot write report '${report}' as it is the input`);
  }
}

function openInput(path: string): Readable {
  try {
    return createReadStream(path, { fd: openSync(path, "r") });
  } catch (error) {
    throw new UsageError(`Cannot read input '${path}' as ${describeSystemError(error, "file")}`);
  }
}

function parseConcurrency(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_CONCURRENCY) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_CONCURRENCY}.`);
  }
  return count;
}

/**
 * Ends the process when all that was written has left it: `process.exit` alone would drop that, and without
 * it a pending read of standard input would keep the process alive.
 */
export async function exitWith(exitCode: number): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write("", () => resolve()));
  }
  process.exit(exitCode);
}

if (import.meta.main) await exitWith(await main(process.argv.slice(2)));
