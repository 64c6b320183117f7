import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { isSameFile } from "../system/same_file.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";

/** File that the run uses for another purpose. */
export interface UsedFile {
  /** Name of the file in messages. */
  readonly name: string;
  /** Path or file descriptor; `undefined` if there is none. */
  readonly file: string | number | undefined;
}

/** Options of {@linkcode openOutputFile}. */
export interface OutputFileOptions {
  /** Name of the file's purpose in messages, such as `report`. */
  readonly purpose: string;
  /** Files that must not be overwritten. The file must not be any of these files, even under another name. */
  readonly used: readonly UsedFile[];
  /** Advice if the file is not empty, such as `choose another file`; `undefined` if the file may have contents. */
  readonly ifNotEmpty: string | undefined;
}

/** Open file to which lines are appended. */
export interface OutputFile {
  readonly fd: number;
  /** Length in bytes; `undefined` if it is not a regular file, for example a pipe. */
  readonly length: number | undefined;
}

/**
 * Opens a file that the run writes. Creates the file if it doesn't exist.
 *
 * @param path The path of the file.
 * @param options The files that must not be overwritten, and whether the file may have contents.
 * @returns The open file.
 * @throws {UsageError} If the file can't be written, if the run uses it for another purpose, or if it must be empty and
 * is not.
 */
export function openOutputFile(path: string, { purpose, used, ifNotEmpty }: OutputFileOptions): OutputFile {
  const fail = (reason: string) => new UsageError(`Cannot write ${purpose} '${path}': ${reason}`);
  let fd: number;
  try {
    fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND);
  } catch (error) {
    throw fail(describeSystemError(error, "directory"));
  }
  try {
    const stats = fstatSync(fd);
    const same = used.find(({ file }) => file !== undefined && isSameFile(fd, file));
    if (same !== undefined) throw fail(`it is ${same.name}`);
    if (stats.isFile() && stats.size > 0 && ifNotEmpty !== undefined) throw fail(`it is not empty; ${ifNotEmpty}`);
    return { fd, length: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
