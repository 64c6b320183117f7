import type { JSX } from "preact";

const WORDS: Readonly<Record<string, string>> = {
  Ready: "Can be handed out now.",
  Delayed: "Due later: a retry after a failure, or an add with a delay.",
  "Processing": "Handed out to a worker and not done yet.",
  "Failing items": "Items whose last attempt failed and that will be retried.",
  "Abandoned": "The attempt has timed out, so it has failed, but its handler still runs.",
  "Blocked": "The delay has passed, but the group is at a limit or paused, or it is a retry without budget.",
  "Oldest ready": "Time since the oldest ready or blocked item became ready.",
  "In, out": "Items per second that became ready, and that were handed out, over the last minute.",
  "Given up": "Failed, and will not be retried.",
  "Waiting": "Time from when an item became ready until it was handed out.",
  "Work": "Time from when an item was handed out until it was done.",
  "p50, p90, p99": "50 %, 90 % and 99 % of the times are at most this long. Each is off by at most 1.6 %.",
  Throttle: "Decides whether one more attempt may start. Queues can share it.",
  Burst: "Maximum number of attempts that start at once after a pause.",
  Stuck: "There is work, but none of it gets done.",
  Failing: "Most attempts fail, or one item keeps failing.",
  Paused: "Someone paused it, or a backend asked for a pause.",
  Busy: "All workers are running and more items are ready, the backlog grows, or an alert may fire.",
};

/** Explanations of the words on the page, for new users. */
export function Words(): JSX.Element {
  return (
    <details>
      <summary>Glossary</summary>
      <dl class="words">
        {Object.entries(WORDS).map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
