import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Charts } from "./charts.tsx";
import { Controls } from "./controls.tsx";
import { Figures } from "./figures.tsx";
import { Latencies } from "./latency.tsx";
import { ItemLists } from "./item_lists.tsx";
import { Limits } from "./limits.tsx";
import { Search } from "./search.tsx";
import type { News } from "./stream.ts";
import { Guide, VerdictBadge } from "./verdict.tsx";
import { shownName, visible } from "./words.ts";

/** View of one queue with all its details. */
export function QueueView({ name, news, search, onSearch }: {
  name: string;
  news: News;
  search: string;
  onSearch: (search: string) => void;
}): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current!.focus(), []); // screen readers continue from here
  const { state, queue, searched = "" } = news;
  const isThere = state?.queues.some((row) => row.name === name) ?? true;

  return (
    <>
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>{shownName(name)}</h1>
        {queue && isThere && (
          <span>
            <Guide guide={queue.guide} /> <VerdictBadge verdict={queue.verdict} />
          </span>
        )}
      </div>
      {!isThere && (
        <p>
          No queue has this name. <a href="#/">See all queues</a>
        </p>
      )}
      {isThere && !queue && <p class="quiet">Loading…</p>}
      {isThere && queue && (
        <>
          <p class="reason">{visible(queue.reason)}</p>
          <Figures queue={queue} details={queue} />
          <div class="halves">
            <Charts history={queue.history} />
            <Controls queue={queue} />
          </div>
          <Latencies queue={queue} />
          <Search queue={queue} search={search} searched={searched} onSearch={onSearch} />
          <ItemLists queue={queue} search={searched} now={state?.time ?? Date.now()} onSearch={onSearch} />
          <Limits queue={queue} throttles={state?.throttles ?? []} />
        </>
      )}
    </>
  );
}
