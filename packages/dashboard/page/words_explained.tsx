import type { JSX } from "preact";

const WORDS: Readonly<Record<string, string>> = {
  Ready: "May be handed to a worker now.",
  Delayed: "Due later: a retry after a failure, or an add with a delay.",
  "Processing": "Handed out and not done yet: a worker has it.",
  "Failing items": "Their last attempt failed; they will be retried.",
  "Blocked": "Its delay has passed, but its group is at its limit.",
  "Oldest ready": "How long the oldest ready item has been ready.",
  "In, out": "Items a second that became ready and that were handed out, over the last minute.",
  "Given up": "Failed, and will not be retried.",
  Burst: "How many attempts may begin at once, after a pause.",
  Stuck: "There is work, but none of it gets done.",
  Failing: "Most attempts fail, or one item keeps failing.",
  Paused: "Somebody paused it, or a backend asked for a pause.",
  Busy: "All workers are running, and more items are ready.",
};

/** Explanations of the words on the page, for new users. */
export function Words(): JSX.Element {
  return (
    <details>
      <summary>What the words mean</summary>
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
