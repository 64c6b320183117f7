import type { JSX } from "preact";
import type { Percentiles, QueueDetails } from "../api.ts";
import { count, duration, many } from "./words.ts";

const MINUTE = 60_000;

/** Percentiles of how long items wait, and of how long the work on them takes. */
export function Latencies({ queue: { latency, engine } }: { queue: QueueDetails }): JSX.Element | null {
  if (latency === null) return null;
  const whose = engine === "memory" ? "" : ", items taken by this process";
  return (
    <section class="latency" aria-labelledby="latency">
      <div class="title">
        <h2 id="latency">Latency</h2>
        <span class="quiet">last {many(Math.max(Math.ceil(latency.overMs / MINUTE), 1), "minute")}{whose}</span>
      </div>
      <table>
        <thead>
          <tr>
            <td />
            {["p50", "p90", "p99", "Items"].map((name) => <th key={name} scope="col" class="number">{name}</th>)}
          </tr>
        </thead>
        <tbody>
          <Row name="Waiting" percentiles={latency.waiting} />
          <Row name="Work" percentiles={latency.work} />
        </tbody>
      </table>
    </section>
  );
}

function Row({ name, percentiles }: { name: string; percentiles: Percentiles }): JSX.Element {
  const { p50, p90, p99 } = percentiles;
  return (
    <tr>
      <th scope="row">{name}</th>
      {[p50, p90, p99].map((ms, i) => <td key={i} class="number">{text(ms)}</td>)}
      <td class="number">{count(percentiles.count)}</td>
    </tr>
  );
}

function text(ms: number | null): string {
  return ms !== null && ms > 0 && ms < 1 ? "< 1 ms" : duration(ms);
}
