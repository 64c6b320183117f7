import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { History } from "../api.ts";
import { count, rate, timeOfDay } from "./words.ts";

const SPAN = 15 * 60;
const SHORTEST = 2 * 60;
const SAMPLES_A_MINUTE = 12;
const HEIGHT = 150;

/** Hash of the script that draws charts. The content security policy allows this script. Set by the build. */
declare const PLOT_HASH: string;

const PLOT = "api/plot.js";

/** Trusted types, which not all browsers have. */
interface TrustedTypes {
  createPolicy(name: string, rules: object): { createScriptURL(url: string): string };
}

const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
  ?.createPolicy("plot", { createScriptURL: () => PLOT });
let loading: Promise<typeof uPlot> | undefined;

/** Loads the script that draws charts, when a chart is first shown. After a failure, the next chart tries again. */
function loadPlot(): Promise<typeof uPlot> {
  return loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.integrity = PLOT_HASH;
    script.src = policy === undefined ? PLOT : policy.createScriptURL(PLOT);
    script.onload = () => resolve((globalThis as unknown as { uPlot: typeof uPlot }).uPlot);
    script.onerror = () => {
      loading = undefined;
      reject(new Error("The script can't be loaded"));
    };
    document.head.append(script);
  });
}

/** Line of a chart. `of` is also the name of the line's color in the stylesheet. */
interface Line {
  readonly of: Exclude<keyof History, "time">;
  readonly name: string;
  readonly dash?: number[];
}

const ITEMS: readonly Line[] = [
  { of: "ready", name: "Ready" },
  { of: "delayed", name: "Delayed", dash: [8, 4] },
  { of: "failing", name: "Failing", dash: [2, 3] },
];
const RATES: readonly Line[] = [
  { of: "in", name: "In" },
  { of: "out", name: "Out", dash: [8, 4] },
  { of: "failures", name: "Failures", dash: [2, 3] },
];

/** Charts of the last fifteen minutes. */
export function Charts({ history }: { history: History }): JSX.Element {
  const [isTable, setTable] = useState(false);
  return (
    <section aria-labelledby="charts">
      <h2 id="charts">The last fifteen minutes</h2>
      <Chart title="Items" lines={ITEMS} history={history} text={count} />
      <Chart title="Per second" lines={RATES} history={history} text={rate} />
      <details onToggle={({ currentTarget }) => setTable(currentTarget.open)}>
        <summary>Show as a table</summary>
        {isTable && <HistoryTable history={history} />}
      </details>
    </section>
  );
}

function Chart({ title, lines, history, text }: {
  title: string;
  lines: readonly Line[];
  history: History;
  text: (number: number | null) => string;
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const [Plot, setPlot] = useState<typeof uPlot | "missing">();

  useEffect(() => void loadPlot().then((loaded) => setPlot(() => loaded), () => setPlot("missing")), []);

  const data: uPlot.AlignedData = [history.time.map((ms) => ms / 1000), ...lines.map(({ of }) => [...history[of]])];

  useEffect(() => {
    if (typeof Plot !== "function") return;
    const element = place.current!;
    const made = new Plot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { sync: { key: "charts" }, drag: { x: false, y: false }, points: { show: false } },
        scales: {
          x: { range: (_, begin, end) => [Math.max(end - SPAN, Math.min(begin, end - SHORTEST)), end] },
          y: { range: (_, __, max) => [0, Math.max(1, max) * 1.1] },
        },
        axes: [
          {
            ...axis(element),
            space: 60,
            incrs: [60, 120, 300],
            values: (_, seconds) => seconds.map((at) => timeOfDay(at * 1000, false)),
          },
          { ...axis(element), size: 56, space: 30, values: (_, numbers) => numbers.map((number) => count(number)) },
        ],
        series: [
          {},
          ...lines.map(({ of, name, dash }) => ({
            label: name,
            stroke: colour(element, of),
            width: 2,
            points: { show: false },
            ...(dash && { dash }),
          })),
        ],
        hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)] },
      },
      data,
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [Plot, isDark]);

  useEffect(() => plot.current?.setData(data), [history.time.at(-1)]);

  const at = pointed ?? history.time.length - 1;
  const values = lines.map((line) => ({ ...line, value: text(history[line.of][at] ?? null) }));
  const time = history.time[at];
  return (
    <figure>
      <figcaption>
        <span>{title}</span>
        <span class="quiet">{time !== undefined && `at ${timeOfDay(time)}`}</span>
        {values.map(({ of, name, value, dash }) => (
          <span key={of}>
            <svg viewBox="0 0 24 4" class={`sample ${of}`} aria-hidden="true">
              <line x1="0" y1="2" x2="24" y2="2" stroke-dasharray={dash?.join(" ")} />
            </svg>{" "}
            {name} <span class="number">{value}</span>
          </span>
        ))}
      </figcaption>
      <div
        ref={place}
        class="plot"
        role="img"
        aria-label={`Chart of ${lines.map(({ name }) => name.toLowerCase()).join(", ")}; the table shows its values`}
      />
      {Plot === "missing" && <p class="quiet">The chart could not be loaded. The table shows its values.</p>}
    </figure>
  );
}

function axis(element: Element): uPlot.Axis {
  return {
    stroke: colour(element, "text"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: colour(element, "line"), width: 1 },
    ticks: { show: false },
  };
}

function colour(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(`--${name}`);
}

/** Table with one row per minute, newest first. */
function HistoryTable({ history }: { history: History }): JSX.Element {
  const last = history.time.length - 1;
  const samples = history.time.map((_, i) => last - i).filter((_, i) => i % SAMPLES_A_MINUTE === 0);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="The last fifteen minutes as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {[...ITEMS, ...RATES].map(({ of, name }) => <th key={of} scope="col" class="number">{name}</th>)}
          </tr>
        </thead>
        <tbody>
          {samples.map((i) => (
            <tr key={history.time[i]}>
              <th scope="row">{timeOfDay(history.time[i]!)}</th>
              {ITEMS.map(({ of }) => <td key={of} class="number">{count(history[of][i])}</td>)}
              {RATES.map(({ of }) => <td key={of} class="number">{rate(history[of][i] ?? null)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const read = () => setMatches(list.matches);
    list.addEventListener("change", read);
    return () => list.removeEventListener("change", read);
  }, [query]);
  return matches;
}
