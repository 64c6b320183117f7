import type { ConfigFormat } from "@workqueue/config-file";
import { type Command, Option } from "commander";
import { parseInteger, pluginOption, repeatable } from "./option_values.ts";

/** Options of all commands that read configs. */
interface PluginFlags {
  /** Paths of the plugins. */
  readonly plugin?: readonly string[];
}

/** Options of `workqueue schema`. */
export interface SchemaFlags extends PluginFlags {
  /** Whether to print the schema of load documents instead. */
  readonly load?: true;
}

/** Options of `workqueue check`. */
export interface CheckFlags extends PluginFlags {
  /** Format of standard input. */
  readonly format?: ConfigFormat;
  /** Whether to print nothing about valid configs. */
  readonly quiet?: true;
}

/** Options of `workqueue delays`. */
export interface DelaysFlags extends PluginFlags {
  /** Names of the limiters to show. */
  readonly limiter?: readonly string[];
  /** Names of the queues whose limiters are shown. */
  readonly queue?: readonly string[];
  /** Number of failures of the item. Default: 20. */
  readonly failures: number;
  /** Output format. Default: `"chart"` on a terminal, `"table"` otherwise. */
  readonly format?: "table" | "chart" | "svg";
}

/** Options of `workqueue simulate`. */
export interface SimulateFlags extends PluginFlags {
  /** Path of the load document. */
  readonly load: string;
  /** Name of the queue. */
  readonly queue?: string;
  readonly seed: number;
  /** Number of seeds for a comparison. */
  readonly runs: number;
  /** Figure that decides which config is better. */
  readonly by?: string;
  /** Conditions under which the command fails. */
  readonly failIf?: readonly string[];
  /** Numeric options of the config to vary, each with its range. */
  readonly vary?: string;
  readonly json?: true;
  /** Path of the image to write. */
  readonly svg?: string;
}

const FAILURES = 20;
const MAX_FAILURES = 1000;

const CHECK_NOTES = `
Each problem is one line, FILE:LINE:COLUMN: POINTER: MESSAGE, which editors and
CI understand. POINTER is a JSON Pointer (RFC 6901) into the document. LINE and
COLUMN are the place of the name, or of its parent if the name is missing.

Exit codes:
  0  all configs are valid
  1  a config has a problem
  2  a config cannot be read (the others are still checked), or the command line
     or a plugin is wrong, or the output cannot be written

Examples:
  workqueue check queues.yaml
  workqueue check --quiet --plugin limiters.mjs configs/*.toml
  generate-config | workqueue check - --format yaml`;

const SCHEMA_NOTES = `
A config names the schema as its "$schema", or your editor's settings assign the
schema to files.

Examples:
  workqueue schema --plugin limiters.mjs > workqueue.schema.json
  workqueue schema --load > load.schema.json`;

const DELAYS_NOTES = `
An item keeps failing, each time as soon as the previous delay has passed.
"total" is the time from its first failure to the retry after that delay. Time
is virtual, so the command itself does not wait. Each limiter is measured alone.
Random delays are the same in every run of the command.

A named limiter is shown under its name. A limiter that a queue defines itself
is shown under the name of the queue.

Examples:
  workqueue delays queues.yaml
  workqueue delays queues.yaml --limiter retry --failures 8 --format table
  workqueue delays queues.yaml --format svg > delays.svg`;

const SIMULATE_NOTES = `
The load document says which items arrive when, how long attempts take, which
attempts fail, and what else happens. The queue, its limiter, its discipline and
its workers are the real ones; only their clock is virtual.

With several configs, each is simulated with the same load and the same seeds,
and the command says which one is better.

Figures for --fail-if: mean, p50, p90, p99 and max of wait (from ready to the
start of an attempt) and of total (from arrival to success), each also "of group
NAME" or "of priority NUMBER"; recovery (from the end of an outage until its
backlog is gone), backlog, attempts, retries, given up, lost, unfinished,
requests (per second at the backend, at most) and utilization.

Exit codes:
  0  no condition of --fail-if is true
  1  a condition of --fail-if is true for a config
  2  the command line, a config, the load or a plugin is wrong

Examples:
  workqueue simulate queues.yaml --load outage.yaml
  workqueue simulate queues.yaml new.yaml --load outage.yaml
  workqueue simulate queues.yaml --load day.yaml --fail-if "p99 wait > 30s"
  workqueue simulate queues.yaml --load day.yaml \\
    --vary queues.images.concurrency=1..64 --fail-if "p99 wait > 30s"`;

const MAX_RUNS = 100;

/** Adds the arguments and options of `workqueue simulate` to a command. */
export function addSimulateFlags(command: Command): Command {
  return command
    .description("Show what a config does under a load, with virtual time.")
    .argument("<file...>", "config files: .json, .jsonc, .yaml, .yml or .toml")
    .requiredOption("--load <file>", "load document (.json, .jsonc, .yaml, .yml or .toml) or trace (.jsonl)")
    .addOption(pluginOption())
    .option("--queue <name>", "queue to simulate; default: the queue that the load names, or the only queue")
    .option("--seed <n>", "seed of all random numbers", (text) => parseInteger(text, 0, Number.MAX_SAFE_INTEGER), 1)
    .option("--runs <n>", "number of seeds when configs are compared", (text) => parseInteger(text, 2, MAX_RUNS), 5)
    .option("--by <figure>", "figure that decides which config is better")
    .addOption(repeatable("--fail-if <condition>", 'fail if this is true, such as "p99 wait > 30s"'))
    .option(
      "--vary <path=from..to>",
      "find the smallest number in the config with which no --fail-if is true, or the largest if larger is worse",
    )
    .option("--json", "print the reports as JSON")
    .option("--svg <file>", "also draw the first report as an image")
    .addHelpText("after", SIMULATE_NOTES);
}

/** Adds the arguments and options of `workqueue check` to a command. */
export function addCheckFlags(command: Command): Command {
  return command
    .description("Check configs, and print their problems.")
    .argument("<file...>", "config files: .json, .jsonc, .yaml, .yml or .toml; - is standard input")
    .addOption(pluginOption())
    .addOption(
      new Option("--format <format>", "format of standard input").choices(["json", "jsonc", "yaml", "toml"]),
    )
    .option("--quiet", "print nothing about valid configs")
    .addHelpText("after", CHECK_NOTES);
}

/** Adds the options of `workqueue schema` to a command. */
export function addSchemaFlags(command: Command): Command {
  return command
    .description("Print the JSON Schema of configs, with which editors complete and check them.")
    .addOption(pluginOption())
    .option("--load", "print the schema of load documents for 'workqueue simulate' instead")
    .addHelpText("after", SCHEMA_NOTES);
}

/** Adds the arguments and options of `workqueue delays` to a command. */
export function addDelaysFlags(command: Command): Command {
  return command
    .description("Show the delays that each limiter of a config gives to an item that keeps failing.")
    .argument("<file>", "config file: .json, .jsonc, .yaml, .yml or .toml")
    .addOption(pluginOption())
    .addOption(repeatable("--limiter <name>", "show only this limiter"))
    .addOption(repeatable("--queue <name>", "show only the limiter of this queue"))
    .option("--failures <n>", "number of failures of the item", (text) => parseInteger(text, 1, MAX_FAILURES), FAILURES)
    .addOption(
      new Option("--format <format>", "output format; default chart on a terminal, otherwise table")
        .choices(["table", "chart", "svg"]),
    )
    .addHelpText("after", DELAYS_NOTES);
}
