import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { QueueRow } from "../api.ts";
import { linkTo, linkToLastList, type Route } from "./route.ts";
import type { News } from "./stream.ts";
import { Totals } from "./totals.tsx";
import { many, shownName, timeOfDay, visible } from "./words.ts";

const BAD: readonly string[] = ["stuck", "failing", "paused"];

/** Age of the data, the numbers of queues by verdict, and the queue with the worst verdict. */
export function Headline({ news, route }: { news: News; route: Route }): JSX.Element {
  const opened = route.queue;
  const { state, live, staleFor, refusal } = news;
  const bad = state?.queues.filter(({ verdict }) => BAD.includes(verdict)) ?? [];
  const worst = bad.find(({ name }) => name !== opened);

  useEffect(() => {
    const place = opened ?? "Work queues";
    const [first] = bad;
    document.title = staleFor !== undefined
      ? `? ${place}`
      : first
      ? `(!) ${first.name} ${first.verdict} · ${place}`
      : place;
  });

  return (
    <header>
      <nav aria-label="Page">
        {opened === undefined ? <span>Work queues</span> : <a href={linkToLastList()}>← All queues</a>}
      </nav>
      <p class={live ? "clock live" : "clock"}>
        {state && <time>{timeOfDay(state.time)}</time>}{" "}
        <span class="connection">{live ? "live" : state ? "reconnecting" : "connecting"}</span>
      </p>
      {refusal !== undefined && <p class="notice">{visible(refusal)}</p>}
      {staleFor !== undefined && refusal === undefined && (
        <p class="notice">
          {state
            ? `No update for ${Math.floor(staleFor / 1000)} s. Showing data from ${timeOfDay(state.time)}.`
            : "No response from the server."}
        </p>
      )}
      {state && opened === undefined && state.queues.length > 1 && (
        <Totals queues={state.queues} chosen={route.verdict} name={route.name} />
      )}
      {state && (
        <p class={opened === undefined ? "worst" : "worst quiet"}>
          {worst
            ? (
              <>
                {opened !== undefined && "Elsewhere: "}
                <a href={linkTo(worst.name)}>{shownName(worst.name)}</a>
                {` is ${worst.verdict}: ${visible(worst.reason)}`}
              </>
            )
            : opened === undefined && summaryOf(state.queues)}
        </p>
      )}
    </header>
  );
}

function summaryOf(queues: readonly QueueRow[]): string {
  const number = (verdict: string) => queues.filter((queue) => queue.verdict === verdict).length;
  const [busy, unknown] = [number("busy"), number("unknown")];
  const rest = [busy > 0 && `${busy} busy`, unknown > 0 && `${unknown} not known yet`].filter(Boolean).join(", ");
  if (queues.length === 1) return queues[0]!.reason;
  return `None of the ${many(queues.length, "queue")} is stuck, failing or paused${rest && ` (${rest})`}.`;
}
