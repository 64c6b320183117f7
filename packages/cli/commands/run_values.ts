/**
 * Parsers for the flag values of `workqueue run`. Each parser throws an {@linkcode InvalidArgumentError} if the value
 * is invalid.
 */

import type { RetryScope } from "@workqueue/core";
import { tryParseDuration } from "@workqueue/core/internal";
import { InvalidArgumentError } from "commander";
import { STANDARD_INPUT } from "../items/input.ts";
import { separatorOf } from "../items/line_columns.ts";
import { type Halt, parseHalt } from "../run/halt.ts";
import { parseInteger } from "./option_values.ts";
import type { RunEnvironment } from "./run_environment.ts";

const MAX_CONCURRENCY = 10_000;
const MAX_EXIT_CODE = 255;
const MAX_TIMEOUT = 2 ** 31 - 1;
const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600 };
/** Largest rate, in attempts per second. No machine starts commands faster. */
const MAX_RATE = 1_000_000;
/** Burst for a high rate: the number of attempts that the rate allows in this time, in seconds. */
const BURST = 0.1;

/** Parses the number of concurrent commands. The number of processors determines the value of a percentage. */
export function parseConcurrency(text: string): number | ((environment: RunEnvironment) => number) {
  const [, digits, sign] = /^(\d+)(%?)$/.exec(text) ?? [];
  const number = Number(digits);
  if (sign === "%" && number > 0) {
    return ({ processors }) => Math.min(Math.max(Math.floor(processors * number / 100), 1), MAX_CONCURRENCY);
  }
  if (sign === "" && number > 0 && number <= MAX_CONCURRENCY) return number;
  throw new InvalidArgumentError(
    `It must be an integer from 1 to ${MAX_CONCURRENCY}, or a percentage of the processors, such as 50%.`,
  );
}

/** Parses the number of retries of an item. */
export function parseRetries(text: string): number {
  return parseInteger(text, 0, 1_000_000);
}

/** Parses the port of the dashboard. */
export function parsePort(text: string): number {
  if (!/^\d/.test(text)) { // the port is optional, so the text might be the command
    throw new InvalidArgumentError("It must be an integer from 1 to 65535; if it is the command, write -- before it.");
  }
  return parseInteger(text, 1, 65_535);
}

/** Parses the timeout of an attempt. Returns milliseconds. */
export function parseTimeout(text: string): number {
  const timeout = parsePositive(text);
  if (timeout < 1 || timeout > MAX_TIMEOUT) throw new InvalidArgumentError("It must be between 1ms and 24 days.");
  return timeout;
}

/** Parses the first and the longest delay into the config of a limiter. Both delays are in milliseconds. */
export function parseBackoff(text: string): { type: "exponential"; baseDelay: number; maxDelay: number } {
  const [first, longest, ...more] = text.split("..");
  if (longest === undefined || more.length > 0) {
    throw new InvalidArgumentError("It must be two durations, such as 100ms..30s.");
  }
  const [baseDelay, maxDelay] = [parsePositive(first!), parsePositive(longest)];
  if (maxDelay < baseDelay) throw new InvalidArgumentError("The first duration must not be longer than the second.");
  return { type: "exponential", baseDelay, maxDelay };
}

function parsePositive(text: string): number {
  const duration = tryParseDuration(text);
  if (duration === undefined || duration <= 0 || /^\d+$/.test(text)) {
    throw new InvalidArgumentError("It must be a duration with a unit, such as 250ms, 30s or 1h30m.");
  }
  return duration;
}

/** Parses the random part of each delay, from 0 to 1. */
export function parseJitter(text: string): number {
  const part = Number(text);
  if (text.trim() === "" || !(part >= 0 && part <= 1)) {
    throw new InvalidArgumentError("It must be a number from 0 to 1.");
  }
  return part;
}

/** Parses the rate of attempts into the config of a throttle. The rate in the config is in attempts per second. */
export function parseRate(text: string): { rate: number; burst: number } {
  const [, count, unit] = /^(\d+(?:\.\d+)?)\/(ms|s|m|h)$/.exec(text) ?? [];
  const rate = Number(count) / SECONDS[unit as keyof typeof SECONDS];
  if (!(rate > 0 && rate <= MAX_RATE)) {
    throw new InvalidArgumentError("It must be a number per unit of time, such as 10/s, 100/m or 5/h.");
  }
  return { rate, burst: Math.max(1, Math.ceil(rate * BURST)) };
}

/** Parses the separator of group names into the config of a discipline. */
export function parseSeparator(text: string): { type: "fair"; separator: string } {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return { type: "fair", separator: text.replaceAll("\\t", "\t") }; // shells have no simple way to write a tab
}

/** Checks the text that stands for the item in the command. */
export function parsePlaceholder(text: string): string {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}

/** Checks the separator of columns, which is a regular expression. */
export function parseColumnSeparator(text: string): string {
  if (separatorOf(text) !== undefined) return text;
  throw new InvalidArgumentError(
    "It must be a regular expression that matches at least one character, such as '\\t', ', *' or '\\|'.",
  );
}

/** Parses a list of exit codes. */
export function parseExitCodes(text: string): readonly number[] {
  const codes = text.split(",").map((code) => /^\d+$/.test(code) ? Number(code) : 0);
  if (codes.every((code) => code >= 1 && code <= MAX_EXIT_CODE)) return codes;
  throw new InvalidArgumentError(`It must be exit codes from 1 to ${MAX_EXIT_CODE}, such as 65 or 64,65.`);
}

/** Parses the scope of the line `retry-after:`. */
export function parseScope(text: string): RetryScope {
  if (text === "item" || text === "group") return text;
  if (text === "run") return "queue";
  throw new InvalidArgumentError("It must be item, group or run.");
}

/** Parses the path of a file that a run writes: of its report, or of its trace. */
export function parseOutputFile(path: string): string {
  if (path === STANDARD_INPUT) {
    throw new InvalidArgumentError("It must be a file, because standard output is for the output of the commands.");
  }
  return path;
}

/** Parses the condition under which a run ends early. */
export function parseWhen(text: string): Halt {
  const halt = parseHalt(text);
  if (halt === undefined) throw new InvalidArgumentError("It must have the form soon,fail=1 or now,fail=10%.");
  return halt;
}

/** Parses the order of output. */
export function parseOutput(text: string): "line" | "group" {
  if (text === "line" || text === "group") return text;
  throw new InvalidArgumentError("It must be line or group.");
}

/** Default destination of the commands' standard error: the terminal, if there is one. */
export function automaticStderr({ isErrorTerminal }: RunEnvironment): "live" | "hide" {
  return isErrorTerminal ? "live" : "hide";
}

/** Parses the destination of the commands' standard error. */
export function parseStderr(text: string): "pass" | typeof automaticStderr {
  if (text === "pass") return text;
  if (text === "auto") return automaticStderr;
  throw new InvalidArgumentError("It must be pass or auto.");
}

/** Parses the path of a directory for results. Refuses paths that have another meaning in GNU parallel. */
export function parseResults(path: string): string {
  if (path === "" || /\{[^{}]*\}|\.(?:csv|tsv|json)$/.test(path)) {
    throw new InvalidArgumentError(
      "It must be a directory, without a placeholder, and not ending in .csv, .tsv or .json.",
    );
  }
  return path;
}
