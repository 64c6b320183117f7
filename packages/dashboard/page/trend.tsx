import type { JSX } from "preact";
import { count, many, shortCount, UNKNOWN } from "./words.ts";

const HEIGHT = 32;
/** Number of samples that fit into the chart. One sample is taken every fifteen seconds, for fifteen minutes. */
const SAMPLES = 60;

/** Text in place of a chart that has fewer than two samples. */
const NO_SAMPLES = "No samples yet";

/** Small chart of the number of items in a queue over the last fifteen minutes, with its scale. */
export function Trend({ numbers, isShort = false }: {
  numbers: readonly (number | null)[];
  /** Whether only the maximum is shown as the scale, because a heading shows the rest. */
  isShort?: boolean;
}): JSX.Element {
  const known = numbers.filter((number) => number !== null);
  const max = Math.ceil(Math.max(1, ...known));
  const points = numbers.flatMap((number, i) =>
    number === null
      ? []
      : `${(SAMPLES - numbers.length + i + 0.5).toFixed(1)},${(HEIGHT - 1 - (number / max) * (HEIGHT - 3)).toFixed(1)}`
  );
  const [first = "", last = ""] = [points[0], points.at(-1)].map((point) => point?.split(",")[0]);
  const isDrawn = points.length > 1;
  const scale = isShort ? `0–${shortCount(max)}` : `0 to ${many(max, "item")} in 15 min`;
  return (
    <figure class="trend">
      <svg
        viewBox={`0 0 ${SAMPLES} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={isDrawn
          ? `Items in the last 15 min: at most ${count(max)}, now ${count(known.at(-1))}`
          : NO_SAMPLES}
      >
        {isDrawn && (
          <>
            <polygon points={`${first},${HEIGHT} ${points.join(" ")} ${last},${HEIGHT}`} />
            <polyline points={points.join(" ")} />
          </>
        )}
      </svg>
      <figcaption class="quiet" aria-hidden="true">{isDrawn ? scale : isShort ? UNKNOWN : NO_SAMPLES}</figcaption>
    </figure>
  );
}
