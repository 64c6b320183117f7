import type { TimedServer } from "../timed_server.ts";

/** Connection and queue on which a trace is replayed. */
export interface Place {
  readonly url: string;
  readonly server: TimedServer;
  /** Name of the queue. */
  readonly name: string;
}
