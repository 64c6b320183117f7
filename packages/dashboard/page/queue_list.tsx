import type { JSX } from "preact";
import type { QueueRow } from "../api.ts";
import { Figures } from "./figures.tsx";
import { linkTo } from "./route.ts";
import { useStill } from "./still.ts";
import { Trend } from "./trend.tsx";
import { Guide, VerdictBadge } from "./verdict.tsx";
import { visible } from "./words.ts";

/** List of all queues, worst verdict first. */
export function QueueList({ queues }: { queues: readonly QueueRow[] }): JSX.Element {
  const { shown, isStill, handlers } = useStill(queues, ({ name }) => name);
  return (
    <>
      <div class="title">
        <h1>Queues</h1>
        <span class="quiet">{isStill ? "Order frozen while you point at it" : "Worst first"}</span>
      </div>
      <ul class="queues" {...handlers}>
        {shown.map(({ item }) => (
          <li key={item.name} class={`card ${item.verdict}`}>
            <div class="title">
              <h2>
                <a href={linkTo(item.name)}>{visible(item.name)}</a>
              </h2>
              <span>
                {item.verdict !== "healthy" && <Guide href={item.guide} />} <VerdictBadge verdict={item.verdict} />
              </span>
            </div>
            <p class="reason">{visible(item.reason)}</p>
            <Figures queue={item} />
            <Trend numbers={item.trend ?? []} />
          </li>
        ))}
      </ul>
      {queues.length === 0 && <p>This dashboard has no queues.</p>}
    </>
  );
}
