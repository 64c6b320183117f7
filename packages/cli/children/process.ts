/** Variables added to the environment of a child. */
export type Environment = Readonly<Record<string, string>>;

/** Exit code or signal of a process that has ended. */
export interface ProcessEnd {
  /** Exit code; `null` if a signal ended the process. */
  readonly exitCode: number | null;
  /** Signal that ended the process; `null` if the process exited. */
  readonly signal: string | null;
}

/** A running process, on any runtime. */
export interface Process {
  /** Process ID. */
  readonly pid: number;
  /** Resolves when the process has exited. */
  readonly exited: Promise<ProcessEnd>;
  /** Standard output of the process. */
  readonly stdout: Pipe;
  /** Standard error of the process. */
  readonly stderr: Pipe;
}

/** Pipe from which a process's output is read. */
export interface Pipe {
  /**
   * Calls `callback` with each chunk. Reads the next chunk only after the promise returned by `callback` has resolved.
   * Resolves at the end of the output.
   */
  forEach(callback: (chunk: Uint8Array) => Promise<void> | undefined): Promise<void>;
  /** Stops reading. */
  close(): void;
}

/**
 * Starts a process with an empty standard input. If `leadsGroup` is true, the process leads its own process group.
 *
 * @throws {Error} If the process could not be started. The error's `code` is the system's error code. Asynchronous
 * implementations reject with this error instead.
 */
export type StartProcess = (
  command: readonly string[],
  env: Environment,
  leadsGroup: boolean,
) => Process | Promise<Process>;
