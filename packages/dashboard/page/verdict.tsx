import type { JSX } from "preact";
import type { Verdict } from "../api.ts";

/** Shapes that stand for verdicts, for users who can't distinguish colors. */
const SHAPES: Readonly<Record<Verdict, string>> = {
  stuck: "M5 1h6l4 4v6l-4 4H5l-4-4V5zM5 5l6 6M11 5l-6 6",
  failing: "M8 1.5 15 14.5H1zM8 6v4M8 12v.6",
  paused: "M1.5 1.5h13v13h-13zM6 5v6M10 5v6",
  busy: "M8 1l7 7-7 7-7-7zM5.5 8.5 8 6l2.5 2.5",
  healthy: "M8 1a7 7 0 1 0 .01 0zM4.8 8.2l2.2 2.2 4.2-4.6",
  unknown: "M8 1a7 7 0 1 0 .01 0zM6.2 6.2a1.9 1.9 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.3M8 11.4v.6",
};

/** Shape that stands for a verdict. */
export function VerdictShape({ verdict }: { verdict: Verdict }): JSX.Element {
  return (
    <svg viewBox="0 0 16 16" class="shape" aria-hidden="true">
      <path d={SHAPES[verdict]} />
    </svg>
  );
}

/** Verdict as a word, a shape and a color. */
export function VerdictBadge({ verdict }: { verdict: Verdict }): JSX.Element {
  return (
    <strong class={`verdict ${verdict}`}>
      <VerdictShape verdict={verdict} />
      <span>{verdict}</span>
    </strong>
  );
}

/** Section of the docs that says what to do about a verdict: a link if `guide` is an address, else its path. */
export function Guide({ guide }: { guide: string }): JSX.Element {
  if (!guide.startsWith("https:")) return <span class="note">What to do: {guide}</span>;
  return <a href={guide} target="_blank" rel="noreferrer">What to do</a>;
}
