import type { LoadRecording } from "@workqueue/simulate";
import type { TraceFile } from "../report/trace_file.ts";
import type { Run } from "./run.ts";

/** Recorder of the load of a run. */
export interface LoadRecorder {
  /** Begins to record the run. */
  record(run: Run): void;
  /**
   * Ends the recording. Resolves when the trace is on disk.
   *
   * @throws {UsageError} If the trace couldn't be written.
   */
  end(): Promise<void>;
  /** Number of events that are missing in the trace. */
  readonly missing: number;
}

/**
 * Loads a recorder. Only a run that is recorded needs its package.
 *
 * @param file The open file of the trace.
 * @param separator The text that ends the name of the group in a line; `undefined` if lines have no groups.
 */
export async function loadRecorder(file: TraceFile, separator: string | undefined): Promise<LoadRecorder> {
  const { recordLoad } = await import("@workqueue/simulate");
  let recording: LoadRecording | undefined;
  return {
    record({ queue, pool }) {
      recording = recordLoad(queue, pool, (lines) => file.write(lines), { separator });
    },
    async end() {
      await recording?.[Symbol.asyncDispose]();
      await file.close();
    },
    get missing() {
      return recording?.dropped ?? 0;
    },
  };
}
