/** Number of requests of a controller, as the metrics of the API server count them. */

import type { Admin } from "./admin.ts";

/** Requests for config maps and secrets. */
export interface Requests {
  readonly writes: number;
  /** Single objects and lists, without watches. */
  readonly reads: number;
  /** Writes that were answered with 409. */
  readonly conflicts: number;
}

const WRITES = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE"]);
const READS = new Set(["GET", "LIST"]);

/** Returns the requests that others than `admin` have sent so far. */
export async function requestsOfOthers(admin: Admin): Promise<Requests> {
  let [writes, reads, conflicts] = [0, 0, 0];
  for (
    const [, labels, value] of (await admin.text("/metrics")).matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)
  ) {
    const { verb, resource, code } = Object.fromEntries(
      [...labels!.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, text]) => [name, text]),
    ) as Record<string, string>;
    if (resource !== "configmaps" && resource !== "secrets") continue;
    if (WRITES.has(verb!)) writes += Number(value);
    if (READS.has(verb!)) reads += Number(value);
    if (code === "409") conflicts += Number(value);
  }
  return { writes: writes - admin.writes, reads: reads - admin.reads, conflicts };
}

/** Returns what was added between two counts. */
export function between(before: Requests, after: Requests): Requests {
  return {
    writes: after.writes - before.writes,
    reads: after.reads - before.reads,
    conflicts: after.conflicts - before.conflicts,
  };
}
