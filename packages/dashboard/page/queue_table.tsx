import type { JSX } from "preact";
import type { QueueRow } from "../api.ts";
import { linkTo } from "./route.ts";
import type { StillList } from "./still.ts";
import { Trend } from "./trend.tsx";
import { Guide, VerdictBadge } from "./verdict.tsx";
import { duration, rate, shortCount, shownName, visible } from "./words.ts";

/** Compact list of many queues, with one line per queue. */
export function QueueTable({ list: { shown, handlers } }: { list: StillList<QueueRow> }): JSX.Element {
  return (
    <table class="compact" aria-label="Queues" {...handlers}>
      <thead>
        <tr>
          <th scope="col" class="name">Queue</th>
          <th scope="col" class="state">Verdict</th>
          <th scope="col" class="why">Reason</th>
          <th scope="col" class="number">Ready</th>
          <th scope="col" class="number middle">Delayed</th>
          <th scope="col" class="number">Failing</th>
          <th scope="col" class="number middle">Out</th>
          <th scope="col" class="number middle">Oldest ready</th>
          <th scope="col" class="line">Items, 15 min</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ item: queue }) => (
          <tr key={queue.name}>
            <th scope="row" class="name">
              <a href={linkTo(queue.name)} title={shownName(queue.name)}>{shownName(queue.name)}</a>
            </th>
            <td class="state">
              <VerdictBadge verdict={queue.verdict} />
            </td>
            <td class="why" title={visible(queue.reason)}>
              {queue.verdict !== "healthy" && <Guide guide={queue.guide} />} {visible(queue.reason)}
            </td>
            <td class="number">{shortCount(queue.counts.ready)}</td>
            <td class="number middle">{shortCount(queue.counts.delayed)}</td>
            <td class={(queue.counts.failing ?? 0) > 0 ? "number bad" : "number"}>
              {shortCount(queue.counts.failing)}
            </td>
            <td class="number middle">{rate(queue.rates.out)}</td>
            <td class="number middle">{duration(queue.oldestReadyMs)}</td>
            <td class="line">
              <Trend numbers={queue.trend} isShort />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
