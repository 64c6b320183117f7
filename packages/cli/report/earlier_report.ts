import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { LineNumbers } from "../items/line_numbers.ts";
import { readLines } from "../items/lines.ts";
import { printable, quoteAll } from "../system/text.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import type { ItemReport, ReportHeader } from "./records.ts";

/** Report of an earlier run. */
export interface EarlierReport {
  /** Lines that have succeeded. The number stored for a line is 1 plus the number of its successes. */
  readonly done: LineNumbers;
  /** Length in bytes, not counting a truncated last line. */
  readonly length: number;
}

const LINE_FEED = 0x0a;
const BLOCK = 65_536;
/**
 * Length limit of a line, in MiB. In JSON, an item of 16 MiB can take up to 96 MiB, and the last 4 KiB of standard
 * error can take up to 24 KiB.
 */
const MAX_MEBIBYTES = 100;
/** Text with which each report begins. */
const BEGINNING = '{"workqueue":';

/**
 * Reads the report of an earlier run, so that another run can resume it.
 *
 * @param path The path of the report.
 * @param header The header that this run would write.
 * @returns The earlier report; `undefined` if the file doesn't exist or has no complete line.
 * @throws {UsageError} If the file can't be read, is not a report, or belongs to another command or config.
 */
export async function readEarlierReport(path: string, header: ReportHeader): Promise<EarlierReport | undefined> {
  const fail = (reason: string) => new UsageError(`Cannot resume '${path}': ${reason}`);
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw fail(describeSystemError(error, "file"));
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw fail(stats.isDirectory() ? "it is a directory" : "it is not a regular file");
    const beginning = textAt(fd, BEGINNING.length);
    if (!BEGINNING.startsWith(beginning)) throw fail("it is not a report");
    const length = lengthOfWholeLines(fd, stats.size);
    return length === 0 ? undefined : { done: await readDone(path, length, header, fail), length };
  } finally {
    closeSync(fd);
  }
}

async function readDone(
  path: string,
  length: number,
  header: ReportHeader,
  fail: (reason: string) => UsageError,
): Promise<LineNumbers> {
  const done = new LineNumbers();
  let latest: Partial<ReportHeader> | undefined;
  let number = 0;
  const stream = createReadStream(path, { end: length - 1 });
  const lines = readLines(stream, {
    separator: "line feed",
    maxMebibytes: MAX_MEBIBYTES,
    fault: () => undefined,
    onRefused: (lineNumber, reason) => {
      throw fail(`line ${lineNumber} is ${reason}`);
    },
  });
  for await (const some of lines) {
    for (const line of some) {
      const record = parse<ReportHeader & ItemReport>(line);
      if (++number === 1 || record?.hash !== undefined) latest = record;
      else if (typeof record?.item !== "string") throw fail(`line ${number} is not a line of a report`);
      else if (record.outcome === "succeeded") done.change(record.item, (before) => Math.max(1, before) + 1);
    }
  }
  requireSameWork(latest, header, fail);
  return done;
}

function requireSameWork(
  earlier: Partial<ReportHeader> | undefined,
  { hash, command, reading }: ReportHeader,
  fail: (reason: string) => UsageError,
): void {
  if (earlier?.hash === hash) return;
  const isHeader = typeof earlier?.hash === "string" && Array.isArray(earlier.command) &&
    Array.isArray(earlier.reading);
  if (!isHeader) throw fail("it is not a report");
  if (String(earlier.reading) !== String(reading)) {
    const flags = earlier.reading!.length > 0 ? `with ${quoteAll(earlier.reading!)}` : `without ${quoteAll(reading)}`;
    throw fail(`its run read lines ${printable(flags)}; use the same options`);
  }
  if (JSON.stringify(earlier.command) !== JSON.stringify(command)) {
    throw fail(`it belongs to another command: ${printable(quoteAll(earlier.command!))}`);
  }
  throw fail("its config was different; restore it, and make changes with options such as --rate instead");
}

function textAt(fd: number, length: number): string {
  const bytes = new Uint8Array(length);
  return new TextDecoder().decode(bytes.subarray(0, readSync(fd, bytes, 0, length, 0)));
}

/** Returns the length of the file, not counting a last line that was truncated by a kill or a full disk. */
function lengthOfWholeLines(fd: number, size: number): number {
  const block = new Uint8Array(BLOCK);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - BLOCK);
    const last = block.subarray(0, readSync(fd, block, 0, end - start, start)).lastIndexOf(LINE_FEED);
    if (last !== -1) return start + last + 1;
    end = start;
  }
  return 0;
}

/** Parses a line; `undefined` if the line is not JSON. */
function parse<R>(line: string): Partial<R> | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
