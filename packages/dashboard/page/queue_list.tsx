import type { JSX } from "preact";
import type { QueueRow, Verdict } from "../api.ts";
import { Figures } from "./figures.tsx";
import { QueueTable } from "./queue_table.tsx";
import { linkTo, linkToList, replaceAddress, type Route } from "./route.ts";
import { type StillList, useStill } from "./still.ts";
import { Trend } from "./trend.tsx";
import { Guide, VerdictBadge } from "./verdict.tsx";
import { shownName, visible } from "./words.ts";

/** Maximum number of queues that are shown as cards. More queues are shown as a table with one line per queue. */
const MAX_CARDS = 8;

/** List of the queues that pass the filter in the page's address, worst verdict first. */
export function QueueList({ queues, route: { verdict, name } }: {
  queues: readonly QueueRow[];
  route: Route;
}): JSX.Element {
  const isLong = queues.length > MAX_CARDS;
  const text = name.toLowerCase();
  const wanted = queues.filter((queue) =>
    (verdict === undefined || queue.verdict === verdict) && queue.name.toLowerCase().includes(text)
  );
  const list = useStill(wanted, ({ name }) => name);
  const part = wanted.length < queues.length
    ? `${wanted.length} of ${queues.length} queues, worst first`
    : "Worst first";
  return (
    <>
      <div class="title">
        <h1>Queues</h1>
        {(isLong || name !== "") && (
          <input
            type="search"
            aria-label="Filter queues by name"
            placeholder="Filter by name"
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={({ currentTarget: { value } }) =>
              replaceAddress(linkToList({ verdict: verdict as Verdict | undefined, name: value }))}
          />
        )}
        <span class="quiet">{list.isStill ? "Order frozen while you point at it" : part}</span>
      </div>
      {isLong ? <QueueTable list={list} /> : <QueueCards list={list} />}
      {queues.length === 0 && <p>This dashboard has no queues.</p>}
      {queues.length > 0 && wanted.length === 0 && (
        <p>
          No queue matches the filter. <a href={linkToList()}>Show all queues</a>
        </p>
      )}
    </>
  );
}

function QueueCards({ list: { shown, handlers } }: { list: StillList<QueueRow> }): JSX.Element {
  return (
    <ul class="queues" {...handlers}>
      {shown.map(({ item }) => (
        <li key={item.name} class={`card ${item.verdict}`}>
          <div class="title">
            <h2>
              <a href={linkTo(item.name)}>{shownName(item.name)}</a>
            </h2>
            <span>
              {item.verdict !== "healthy" && <Guide guide={item.guide} />} <VerdictBadge verdict={item.verdict} />
            </span>
          </div>
          <p class="reason">{visible(item.reason)}</p>
          <Figures queue={item} />
          <Trend numbers={item.trend} />
        </li>
      ))}
    </ul>
  );
}
