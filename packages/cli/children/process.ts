/** Variables of a child besides those of this process. */
export type Environment = Readonly<Record<string, string>>;

/** The end of a process. */
export interface ProcessEnd {
  /** The exit code; `null` if a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended it, if one did. */
  readonly signal: string | null;
}

/** A running process, on any runtime. */
export interface Process {
  /** The process number. */
  readonly pid: number;
  /** Resolves when it has exited. */
  readonly exited: Promise<ProcessEnd>;
  /** Its standard output. */
  readonly stdout: Pipe;
  /** Its standard error. */
  readonly stderr: Pipe;
}

/** The end of a pipe that a process writes to. */
export interface Pipe {
  /**
   * Calls `callback` with each chunk, and reads on when the callback has resolved. Resolves at the end of the output.
   */
  forEach(callback: (chunk: Uint8Array) => Promise<void> | undefined): Promise<void>;
  /** Stops reading. */
  close(): void;
}

/** Starts a process with an empty standard input. Throws or rejects with an error that has the `code` of the system. */
export type StartProcess = (
  command: readonly string[],
  env: Environment,
  leadsGroup: boolean,
) => Process | Promise<Process>;
