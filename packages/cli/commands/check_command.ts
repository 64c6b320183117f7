import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type ConfigFormat, loadConfigFile, loadConfigText } from "@workqueue/config-file";
import { ConfigError, type ConfigIssue, type WorkQueueConfig } from "@workqueue/core";
import { inOneLine } from "@workqueue/core/internal";
import { loadPlugins } from "../config/plugins.ts";
import { STANDARD_INPUT } from "../items/input.ts";
import { EXIT } from "../system/exit_codes.ts";
import { stderr } from "../system/standard_streams.ts";
import { UsageError } from "../system/usage_error.ts";
import type { CheckFlags } from "./config_flags.ts";
import { print } from "./print.ts";

/**
 * Runs `workqueue check`: prints the problems of every config.
 *
 * @param paths Paths of the configs; `-` is standard input.
 * @param flags The options.
 * @param standardInput The stream for `-`.
 * @returns The exit code, determined by the worst problem.
 * @throws {UsageError} If the options are invalid, a plugin can't be loaded, standard input is not UTF-8, or the
 * output can't be written.
 */
export async function checkCommand(
  paths: readonly string[],
  flags: CheckFlags,
  standardInput: Readable,
): Promise<number> {
  requireFormat(paths, flags.format);
  const options = await loadPlugins(flags.plugin);
  let exitCode: number = EXIT.succeeded;
  for (const path of paths) {
    try {
      const config = path === STANDARD_INPUT
        ? loadConfigText(await readText(standardInput), flags.format!, options)
        : loadConfigFile(path, options);
      if (!flags.quiet) await print(`${inOneLine(path)}: ok, ${describeContents(config)}\n`);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (error instanceof ConfigError) {
        exitCode = Math.max(exitCode, EXIT.incomplete);
        await print(error.issues.map((issue) => `${describeProblem(path, issue)}\n`).join(""));
      } else {
        exitCode = EXIT.usage;
        stderr.write(`workqueue: ${(error as Error).message}\n`);
      }
    }
  }
  return exitCode;
}

function requireFormat(paths: readonly string[], format: ConfigFormat | undefined): void {
  const asked = paths.filter((path) => path === STANDARD_INPUT).length;
  if (asked > 1) throw new UsageError("Cannot read standard input more than once");
  if (asked === 1 && format === undefined) {
    throw new UsageError("Cannot read standard input: its format is unknown; specify it with --format");
  }
  if (asked === 0 && format !== undefined) {
    throw new UsageError(
      "Cannot use --format without - (standard input): the extension of a file determines its format",
    );
  }
}

async function readText(standardInput: Readable): Promise<string> {
  const bytes = await buffer(standardInput);
  if (!isUtf8(bytes)) throw new UsageError("Cannot read standard input: it is not UTF-8");
  return bytes.toString();
}

/** Counts the queues of a config, and the kinds of parts that it has. */
function describeContents({ queueNames, limiterNames, throttleNames }: WorkQueueConfig): string {
  const count = ({ length }: string[], what: string) => `${length} ${what}${length === 1 ? "" : "s"}`;
  const parts = [limiterNames.length > 0 && count(limiterNames, "limiter")];
  parts.push(throttleNames.length > 0 && count(throttleNames, "throttle"));
  return [count(queueNames, "queue"), ...parts].filter(Boolean).join(", ");
}

/** Formats a problem like a compiler error, so that editors and CI systems can locate the problem. */
function describeProblem(file: string, { path, message, line, column }: ConfigIssue): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  if (path !== "") return inOneLine(`${place}: ${path}: ${message}`);
  // If a problem has no path, its message repeats the line and column, which this function removes.
  return inOneLine(`${place}: ${message.replace(` at line ${line}, column ${column}`, "")}`);
}
