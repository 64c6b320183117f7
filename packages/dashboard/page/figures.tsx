import type { JSX } from "preact";
import type { QueueDetails, QueueRow } from "../api.ts";
import { count, duration, rate } from "./words.ts";

/** Main numbers of a queue, or all of its numbers if `details` is given. */
export function Figures({ queue, details }: { queue: QueueRow; details?: QueueDetails }): JSX.Element {
  const { counts, rates, workers } = queue;
  return (
    <dl class="figures">
      <Figure name="Ready" value={count(counts.ready)} />
      <Figure name="Delayed" value={count(counts.delayed)} />
      <Figure name="Processing" value={count(counts.processing)} />
      {!details && counts.blocked > 0 && <Figure name="Blocked" value={count(counts.blocked)} />}
      <Figure name="Failing" value={count(counts.failing)} isBad={counts.failing !== null && counts.failing > 0} />
      <Figure name="In" value={rate(rates.in)} />
      <Figure name="Out" value={rate(rates.out)} />
      <Figure name="Oldest ready" value={duration(queue.oldestReadyMs)} />
      <Figure
        name="Workers busy"
        value={workers === null ? count(null) : `${count(workers.active)} of ${count(workers.concurrency)}`}
      />
      {details && (
        <>
          <Figure name="Failures" value={rate(rates.failures)} isBad={rates.failures !== null && rates.failures > 0} />
          <Figure name="Given up" value={rate(rates.givenUp)} />
          <Figure name="Blocked" value={count(counts.blocked)} />
          {details.blockedRetries !== null && (
            <Figure name="Retries without budget" value={count(details.blockedRetries)} />
          )}
          {details.abandoned !== null && details.abandoned > 0 && (
            <Figure name="Abandoned" value={count(details.abandoned)} isBad />
          )}
          {Object.entries(details.givenUpFor ?? {}).map(([reason, number]) =>
            number > 0 && <Figure key={reason} name={`Given up: ${reason}`} value={count(number)} isBad />
          )}
        </>
      )}
    </dl>
  );
}

function Figure({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? "bad" : undefined}>{value}</dd>
    </div>
  );
}
