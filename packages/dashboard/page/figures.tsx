import type { JSX } from "preact";
import type { QueueRow } from "../api.ts";
import { count, duration, rate } from "./words.ts";

/** The numbers of a queue. */
export function Figures({ queue, all = false }: { queue: QueueRow; all?: boolean }): JSX.Element {
  const { counts, rates, workers } = queue;
  return (
    <dl class="figures">
      <Figure name="Ready" value={count(counts.ready)} />
      <Figure name="Waiting" value={count(counts.waiting)} />
      <Figure name="In work" value={count(counts.held)} />
      <Figure name="Failing" value={failingOf(queue)} isBad={counts.failing !== null && counts.failing > 0} />
      <Figure name="In" value={rate(rates.in)} />
      <Figure name="Out" value={rate(rates.out)} />
      <Figure name="Oldest ready" value={duration(queue.oldestReady)} />
      <Figure
        name="Workers busy"
        value={workers === null ? count(null) : `${count(workers.active)} of ${count(workers.concurrency)}`}
      />
      {all && (
        <>
          <Figure name="Failures" value={rate(rates.failures)} isBad={rates.failures !== null && rates.failures > 0} />
          <Figure name="Given up" value={rate(rates.givenUp)} />
          <Figure name="Held back" value={count(counts.heldBack)} />
        </>
      )}
    </dl>
  );
}

/** A pool remembers so many of the items that fail. */
const REMEMBERED = 1000;

function failingOf({ engine, counts: { failing } }: QueueRow): string {
  return engine === "memory" && failing !== null && failing >= REMEMBERED ? `${count(REMEMBERED)}+` : count(failing);
}

function Figure({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? "bad" : undefined}>{value}</dd>
    </div>
  );
}
