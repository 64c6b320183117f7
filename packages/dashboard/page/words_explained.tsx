import type { JSX } from "preact";

const WORDS: Readonly<Record<string, string>> = {
  Ready: "May be handed to a worker now.",
  Waiting: "Due later: a retry after a failure, or an add with a delay.",
  "In work": "Handed out and not done: a worker has it.",
  "Failing items": "Their last attempt failed; they will be tried again.",
  "Held back": "Ready, but its group has all that it may have at once.",
  "Oldest ready": "For how long the oldest of the ready items has been ready.",
  "In, out": "Items that became ready, and that were handed out, a second over the last minute.",
  "Given up": "Failed, and not tried again.",
  Burst: "How many attempts may begin at once, after a pause.",
  Stuck: "There is something to do, and nothing gets done.",
  Failing: "Most attempts fail, or one item again and again.",
  Paused: "Somebody has stopped it, or a backend has asked for a pause.",
  Busy: "All is at work, and more waits for its turn.",
};

/** What the words of the page mean, for who has never seen it. */
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
