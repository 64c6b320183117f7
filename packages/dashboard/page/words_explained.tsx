import type { JSX } from "preact";

const WORDS: Readonly<Record<string, string>> = {
  Ready: "May be handed to a worker now.",
  Waiting: "Due later: a retry after a failure, or an add with a delay.",
  Held: "Handed out and not done: a worker has it.",
  Failing: "The last attempt failed; it will be tried again.",
  "Held back": "Ready, but its group has all that it may have at once.",
  "Oldest ready": "For how long the oldest of the ready items has been ready.",
  "In, out": "Items that became ready, and that were handed out, a second over the last minute.",
  "Given up": "Failed, and not tried again.",
  Stuck: "There is something to do, and nothing gets done.",
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
