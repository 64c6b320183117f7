/** What a process has in its environment beside what is in ours. */
export type Environment = Readonly<Record<string, string>>;

/** How a process ended. */
export interface ProcessEnd {
  /** The exit code; `null` if a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended it, if one did. */
  readonly signal: string | null;
}

/** A process that runs, whichever way it was started. */
export interface Process {
  /** Its number. */
  readonly pid: number;
  /** Resolves when it has exited. */
  readonly exited: Promise<ProcessEnd>;
  /** What it prints. */
  readonly stdout: Pipe;
  /** What it writes to its standard error. */
  readonly stderr: Pipe;
}

/** What a process writes to. */
export interface Pipe {
  /** Calls back with each chunk, and reads no further until that has resolved. Resolves when there is no more. */
  forEach(callback: (chunk: Uint8Array) => Promise<void> | undefined): Promise<void>;
  /** Reads no more. */
  close(): void;
}

/** Starts a process, whose standard input is empty. Throws, or rejects, with the `code` of the system, where it cannot. */
export type StartProcess = (
  command: readonly string[],
  env: Environment,
  leadsGroup: boolean,
) => Process | Promise<Process>;
