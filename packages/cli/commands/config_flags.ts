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
  /** Number of failures of the item. Default 20. */
  readonly failures: number;
  /** Output format. Default `"chart"` on a terminal, else `"table"`. */
  readonly format?: "table" | "chart" | "svg";
}

const FAILURES = 20;
const MAX_FAILURES = 1000;

const CHECK_NOTES = `
Each problem is a line: FILE:LINE:COLUMN: POINTER: MESSAGE, as editors and CI read
them. The pointer is a JSON Pointer (RFC 6901) into the document. The place is that
of the name in question; if that is missing, of what it is missing in. In TOML only
errors of syntax have a place.

Exit codes:
  0  all configs are valid
  1  something is wrong in one of them
  2  one cannot be read (the others are checked all the same), or the command line
     or a plugin is wrong

Examples:
  workqueue check queues.yaml
  workqueue check --quiet --plugin limiters.mjs configs/*.toml
  generate-config | workqueue check - --format yaml`;

const SCHEMA_NOTES = `
A config names it as its "$schema", or an editor is told which files it is for.

Example:
  workqueue schema --plugin limiters.mjs > workqueue.schema.json`;

const DELAYS_NOTES = `
One item fails again and again: each attempt begins when the previous delay has
passed, and fails at once. "in all" is the time from its first failure to the retry
that follows. Time is simulated, and no limiter knows of the others. Random parts
of delays come from the same random numbers each time.

Named limiters are shown under their names, and those that queues describe
themselves under the names of the queues.

Examples:
  workqueue delays queues.yaml
  workqueue delays queues.yaml --limiter retry --failures 8 --format table
  workqueue delays queues.yaml --format svg > delays.svg`;

/** Adds the arguments and options of `workqueue check` to a command. */
export function addCheckFlags(command: Command): Command {
  return command
    .description("Looks for mistakes in configs, and prints all that it finds.")
    .argument("<file...>", "the configs: .json, .jsonc, .yaml, .yml or .toml; - is standard input")
    .addOption(pluginOption())
    .addOption(
      new Option("--format <format>", "what standard input is written in").choices(["json", "jsonc", "yaml", "toml"]),
    )
    .option("--quiet", "say nothing of configs that are valid")
    .addHelpText("after", CHECK_NOTES);
}

/** Adds the options of `workqueue schema` to a command. */
export function addSchemaFlags(command: Command): Command {
  return command
    .description("Prints the JSON Schema of configs, by which editors complete and check them.")
    .addOption(pluginOption())
    .addHelpText("after", SCHEMA_NOTES);
}

/** Adds the arguments and options of `workqueue delays` to a command. */
export function addDelaysFlags(command: Command): Command {
  return command
    .description("Shows for each limiter of a config how long an item is delayed after each failure.")
    .argument("<file>", "the config: .json, .jsonc, .yaml, .yml or .toml")
    .addOption(pluginOption())
    .addOption(repeatable("--limiter <name>", "only the limiter of that name"))
    .addOption(repeatable("--queue <name>", "only the limiter that the queue of that name uses"))
    .option("--failures <n>", "how often the item fails", (text) => parseInteger(text, 1, MAX_FAILURES), FAILURES)
    .addOption(
      new Option("--format <format>", "a chart by default on a terminal, and else a table")
        .choices(["table", "chart", "svg"]),
    )
    .addHelpText("after", DELAYS_NOTES);
}
