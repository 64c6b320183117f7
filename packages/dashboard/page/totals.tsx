import type { JSX } from "preact";
import type { QueueRow, Verdict } from "../api.ts";
import { linkToList } from "./route.ts";
import { VerdictShape } from "./verdict.tsx";
import { count, many } from "./words.ts";

/** Numbers of queues by verdict, worst first. Each number is a link to the queues with this verdict. */
export function Totals({ queues, chosen, name }: {
  queues: readonly QueueRow[];
  /** Verdict of the listed queues. */
  chosen: string | undefined;
  /** Text in the names of the listed queues. */
  name: string;
}): JSX.Element {
  const totals = new Map<Verdict, number>();
  for (const { verdict } of queues) totals.set(verdict, (totals.get(verdict) ?? 0) + 1);
  return (
    <ul class="totals" aria-label="Queues by verdict">
      {[...totals].map(([verdict, number]) => (
        <li key={verdict}>
          <a
            href={linkToList({ verdict, name })}
            class={`total ${verdict}`}
            aria-current={chosen === verdict ? "true" : undefined}
          >
            <VerdictShape verdict={verdict} />
            {count(number)} {verdict}
          </a>
        </li>
      ))}
      <li>
        <a href={linkToList({ name })} class="total" aria-current={chosen === undefined ? "true" : undefined}>
          {many(queues.length, "queue")}
        </a>
      </li>
    </ul>
  );
}
