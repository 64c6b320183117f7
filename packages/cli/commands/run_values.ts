/**
 * Parsers for the values of the flags of `workqueue run`. They throw an {@linkcode InvalidArgumentError} for a bad
 * value.
 */

import { parseDuration } from "@workqueue/core";
import { InvalidArgumentError } from "commander";
import { STANDARD_INPUT } from "../items/input.ts";
import { type Halt, parseHalt } from "../run/halt.ts";
import { parseInteger } from "./option_values.ts";

const MAX_CONCURRENCY = 10_000;
const MAX_TIMEOUT = 2 ** 31 - 1;
const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600 };
/** Attempts a second. No machine starts commands that often. */
const MAX_RATE = 1_000_000;
/** Burst of a fast rate, in seconds of it. */
const BURST = 0.1;

/** Reads how many commands may run at once. */
export function parseConcurrency(text: string): number {
  return parseInteger(text, 1, MAX_CONCURRENCY);
}

/** Reads how often an item is tried again. */
export function parseRetries(text: string): number {
  return parseInteger(text, 0, 1_000_000);
}

/** Reads the port of the dashboard. */
export function parsePort(text: string): number {
  if (!/^\d/.test(text)) { // the port may be left out, so that the command is taken for it
    throw new InvalidArgumentError("It must be a whole number from 1 to 65535; write -- before the command.");
  }
  return parseInteger(text, 1, 65_535);
}

/** Reads how long an attempt may take, in milliseconds. */
export function parseTimeout(text: string): number {
  const timeout = parsePositive(text);
  if (timeout < 1 || timeout > MAX_TIMEOUT) throw new InvalidArgumentError("It must be from 1ms to 24 days.");
  return timeout;
}

/** Reads the first and the longest delay of failures: a limiter, as in a config. */
export function parseBackoff(text: string): { type: "exponential"; baseDelay: number; maxDelay: number } {
  const [first, longest, ...more] = text.split("..");
  if (longest === undefined || more.length > 0) {
    throw new InvalidArgumentError("It must be two durations, as 100ms..30s.");
  }
  const [baseDelay, maxDelay] = [parsePositive(first!), parsePositive(longest)];
  if (maxDelay < baseDelay) throw new InvalidArgumentError("The first must not be longer than the other.");
  return { type: "exponential", baseDelay, maxDelay };
}

function parsePositive(text: string): number {
  let duration = 0;
  try {
    duration = parseDuration(text);
  } catch {
    // It is not a duration: 0 is refused below.
  }
  if (duration <= 0 || /^\d+$/.test(text)) {
    throw new InvalidArgumentError("It must be a duration with its unit, as 250ms, 30s or 1h30m.");
  }
  return duration;
}

/** Reads the random part of each delay. */
export function parseJitter(text: string): number {
  const part = Number(text);
  if (text.trim() === "" || !(part >= 0 && part <= 1)) {
    throw new InvalidArgumentError("It must be a number from 0 to 1.");
  }
  return part;
}

/** Reads how often attempts may begin: a bucket, as in a config. */
export function parseRate(text: string): { rate: number; burst: number } {
  const [, count, unit] = /^(\d+(?:\.\d+)?)\/(ms|s|m|h)$/.exec(text) ?? [];
  const rate = Number(count) / SECONDS[unit as keyof typeof SECONDS];
  if (!(rate > 0 && rate <= MAX_RATE)) {
    throw new InvalidArgumentError("It must be a number and a unit of time, as 10/s, 100/m or 5/h.");
  }
  return { rate, burst: Math.max(1, Math.ceil(rate * BURST)) };
}

/** Reads the end of a group's name: a discipline, as in a config. */
export function parseSeparator(text: string): { type: "fair"; separator: string } {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return { type: "fair", separator: text.replaceAll("\\t", "\t") }; // a shell has no simple way to write a tab
}

/** Reads the path of a report. */
export function parseReport(path: string): string {
  if (path === STANDARD_INPUT) {
    throw new InvalidArgumentError("It must be a file: the standard output is that of the commands.");
  }
  return path;
}

/** Reads when to end early. */
export function parseWhen(text: string): Halt {
  const halt = parseHalt(text);
  if (halt === undefined) throw new InvalidArgumentError("It must be as soon,fail=1 or now,fail=10%.");
  return halt;
}
