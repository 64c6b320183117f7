import type { ErrorCode } from "@workqueue/core";

/** Error for a call that did not write to its file, or may not have written to it. */
export class SqliteConnectionError extends Error {
  /** Name of the class. */
  override name = "SqliteConnectionError";
  /** Error code. Always `"WQ_CONNECTION"`. */
  readonly code: "WQ_CONNECTION" = "WQ_CONNECTION" satisfies ErrorCode;
  /** Whether the call may have taken effect. If `false`, the call certainly has not taken effect. */
  readonly mayHaveRun: boolean;

  /**
   * Creates the error.
   *
   * @param message The failed action and the reason.
   * @param options Whether the call may have taken effect (`mayHaveRun`), and the `cause`, if there is one.
   */
  constructor(message: string, options: ErrorOptions & { mayHaveRun: boolean }) {
    super(message, options);
    this.mayHaveRun = options.mayHaveRun;
  }
}

/** Primary result codes of SQLite: https://www.sqlite.org/rescode.html */
const [SQLITE_BUSY, SQLITE_IOERR] = [5, 10];

/** Reasons by messages of SQLite, because some errors have no code on Deno. */
const REASONS: readonly (readonly [message: RegExp, reason: string])[] = [
  [/is locked/, "another connection has locked it"],
  [/readonly/, "it is read-only"],
  [/malformed/, "it is damaged. Restore a backup"],
  [/not a database/, "it is damaged, or no SQLite database"],
  [/is full/, "the disk is full"],
  [/disk I\/O/, "the disk reports an error"],
  [/unable to open/, "the file or its folder can't be read or written"],
  [/table \S+ already exists/, "a table of another program has a name that the queue uses"],
];

/** Error for a file that another connection uses in a way that may end, like a lock. */
export class LockedError extends Error {
  readonly errcode = SQLITE_BUSY;
}

/** Reports whether an error means that another connection has locked the file, so that the call can be tried again. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

/** Reports whether an error of `COMMIT` leaves open whether the transaction will be found after a restart. */
export function isInDoubt(error: unknown): boolean {
  return primaryCode(error) === SQLITE_IOERR;
}

/** Reports whether an error comes from SQLite. */
export function isOfSqlite(error: unknown): boolean {
  return primaryCode(error) !== undefined;
}

/** Returns why SQLite failed. */
export function reasonOf(error: unknown): string {
  const message = (error as Error).message.replace(/ in \s[^]* at offset \d+$/, ""); // Deno adds the statements
  const reason = REASONS.find(([pattern]) => pattern.test(message))?.[1];
  return reason === undefined ? message : `${reason} (${message})`;
}

/** Returns the error for a file that can't be opened. */
export function cannotOpen(path: string, error: unknown): Error {
  return new Error(`Cannot open ${path}: ${reasonOf(error)}`, { cause: error });
}

/** Returns the primary result code of an error of SQLite; `undefined` for other errors. */
function primaryCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}
