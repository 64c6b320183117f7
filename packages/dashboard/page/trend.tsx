import type { JSX } from "preact";

const HEIGHT = 32;

/** Small chart of the number of items in a queue over the last fifteen minutes. */
export function Trend({ numbers }: { numbers: readonly (number | null)[] }): JSX.Element {
  const max = Math.max(1, ...numbers.map((number) => number ?? 0));
  const points = numbers.flatMap((number, i) =>
    number === null
      ? []
      : `${(60 - numbers.length + i + 0.5).toFixed(1)},${(HEIGHT - 1 - (number / max) * (HEIGHT - 3)).toFixed(1)}`
  );
  const [first = "", last = ""] = [points[0], points.at(-1)].map((point) => point?.split(",")[0]);
  return (
    <svg class="trend" viewBox={`0 0 60 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {points.length > 1 && (
        <>
          <polygon points={`${first},${HEIGHT} ${points.join(" ")} ${last},${HEIGHT}`} />
          <polyline points={points.join(" ")} />
        </>
      )}
    </svg>
  );
}
