import type { ConfigFormat } from "@workqueue/config-file";
import { type Command, Option } from "commander";
import { parseInteger, pluginOption, repeatable } from "./option_values.ts";

/** Options of `workqueue schema`. */
export interface SchemaFlags {
  /** Paths of the plugins. */
  readonly plugin?: readonly string[];
}

/** Options of `workqueue check`. */
export interface CheckFlags extends SchemaFlags {
  /** Format of standard input. */
  readonly format?: ConfigFormat;
  /** Whether to print nothing about valid configs. */
  readonly quiet?: true;
}

/** Options of `workqueue delays`. */
export interface DelaysFlags extends SchemaFlags {
  /** Names of the limiters to show. */
  readonly limiter?: readonly string[];
  /** Names of the queues whose limiters are shown. */
  readonly queue?: readonly string[];
  /** Number of failures of the item. Default: 20. */
  readonly failures: number;
  /** Output format. Default: `"chart"` on a terminal, `"table"` otherwise. */
  readonly format?: "table" | "chart" | "svg";
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

Example:
  workqueue schema --plugin limiters.mjs > workqueue.schema.json`;

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
