import { closeSync, fsync, ftruncateSync } from "node:fs";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { writeAllSync } from "../system/write_all.ts";
import { DiskSync } from "./disk_sync.ts";
import type { EarlierReport } from "./earlier_report.ts";
import { openOutputFile, type UsedFile } from "./output_file.ts";
import type { ItemReport, ReportHeader } from "./records.ts";

/** Options of {@linkcode openReport}. */
export interface ReportOptions {
  /** First line of a new report. */
  readonly header: ReportHeader;
  /** Whether to continue an existing report. If false, the file must be empty. */
  readonly resumes: boolean;
  /** Report to continue; `undefined` if there is none. */
  readonly earlier: EarlierReport | undefined;
  /** Files that must not be overwritten. The report must not be any of these files, even under another name. */
  readonly used: readonly UsedFile[];
}

/** Open report. */
export interface Report {
  /**
   * Writes the outcome of an item, or a new header.
   *
   * @throws {UsageError} If the report can't be written.
   */
  write(record: ItemReport | ReportHeader): void;
  /**
   * Closes the report. Resolves when every line is on disk.
   *
   * @throws {UsageError} If a write failed.
   */
  close(): Promise<void>;
}

/**
 * Opens a report. A report consists of a header and one line of JSON for each item. An item's line is written when the
 * item's outcome is decided.
 *
 * Each line is written immediately. The report is therefore valid even if the run is cut short, for example by a full
 * disk.
 *
 * @param path The path of the report.
 * @param options The header, and the files that the report must not overwrite.
 * @returns The open report.
 * @throws {UsageError} If the file can't be written, if the run uses it for another purpose, or if it is not empty and
 * is not resumed.
 */
export function openReport(path: string, { header, resumes, earlier, used }: ReportOptions): Report {
  const attempt = <R>(action: () => R): R => {
    try {
      return action();
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`Cannot write report '${path}': ${describeSystemError(error, "directory")}`);
    }
  };
  const ifNotEmpty = resumes ? undefined : "continue it with --resume, or choose another file";
  const { fd, length: before } = openOutputFile(path, { purpose: "report", used, ifNotEmpty });
  try {
    const length = before === undefined ? undefined : earlier?.length ?? 0;
    if (length !== undefined && before! > length) attempt(() => ftruncateSync(fd, length));
    const report = new OpenReport(fd, length, attempt);
    if (earlier === undefined) report.write(header);
    return report;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

class OpenReport implements Report {
  readonly #fd: number;
  readonly #attempt: (action: () => void) => void;
  /** Length in bytes; `undefined` if the report is not a regular file, for example a pipe. */
  #length: number | undefined;
  readonly #syncs = new DiskSync((callback) => fsync(this.#fd, callback), (error) => this.#error ??= error);
  /** First error. Nothing is written after an error. */
  #error: unknown = undefined;

  constructor(fd: number, length: number | undefined, attempt: (action: () => void) => void) {
    this.#fd = fd;
    this.#length = length;
    this.#attempt = attempt;
  }

  write(record: ItemReport | ReportHeader): void {
    const line = new TextEncoder().encode(JSON.stringify(record) + "\n");
    this.#attempt(() => {
      if (this.#error !== undefined) throw this.#error;
      try {
        writeAllSync(this.#fd, line);
      } catch (error) {
        this.#error = error;
        if (this.#length !== undefined) ftruncateSync(this.#fd, this.#length); // the line might be partly written
        throw error;
      }
    });
    if (this.#length === undefined) return;
    this.#length += line.length;
    this.#syncs.request();
  }

  async close(): Promise<void> {
    await this.#syncs.finish();
    closeSync(this.#fd);
    this.#attempt(() => {
      if (this.#error !== undefined) throw this.#error;
    });
  }
}
