import type { WorkerPool } from "@workqueue/core";
import type { LoadRecording } from "@workqueue/simulate";
import type { TraceFile } from "../report/trace_file.ts";
import type { MemorySource } from "./memory_source.ts";
import type { OpenItem } from "./open_item.ts";

/** Recorder of the load of a run. */
export interface LoadRecorder {
  /** Begins to record the items of a queue and the attempts of its pool. */
  record(queue: MemorySource["queue"], pool: WorkerPool<OpenItem>): void;
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
    record(queue, pool) {
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
