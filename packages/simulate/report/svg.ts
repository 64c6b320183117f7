import { formatCount, formatTime } from "./format.ts";
import type { SimulationReport } from "./report.ts";

/** Sizes in pixels. */
const PLOT = { width: 560, height: 90, gap: 30, labels: 70, top: 36, bottom: 24 };

const BLUE = "#3b82f6";
const ORANGE = "#f59e0b";
const RED = "#ef4444";
const GREY = "#818b98";

// An SVG image doesn't know the colors of its page, but it can query whether the reader prefers dark colors.
const STYLE = `<style>svg { color: #1f2328 } @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }</style>`;

/** A plot: a name, and lines over time. */
interface Plot {
  readonly name: string;
  readonly lines: readonly { readonly color: string; readonly numbers: readonly number[] }[];
  format(value: number): string;
}

/**
 * Draws a report as an image: attempts, backlog and waits over time, one above the other.
 *
 * @param report The report.
 * @returns The image as SVG, which ends with a line feed. The image adapts to readers who prefer dark colors.
 */
export function svgOf(report: SimulationReport): string {
  const { timeline: { step, attempts, retries, failures, backlog, waits }, queue, duration } = report;
  const perSecond = (numbers: readonly number[]) => numbers.map((count) => count / step * 1000);
  const plots: Plot[] = [
    {
      name: "attempts per second, of which retries and failures",
      lines: [
        { color: BLUE, numbers: perSecond(attempts) },
        { color: ORANGE, numbers: perSecond(retries) },
        { color: RED, numbers: perSecond(failures) },
      ],
      format: formatCount,
    },
    { name: "items that have not ended", lines: [{ color: BLUE, numbers: backlog }], format: formatCount },
    { name: "longest wait", lines: [{ color: BLUE, numbers: waits }], format: formatTime },
  ];
  const width = PLOT.labels + PLOT.width + 20;
  const height = PLOT.top + plots.length * (PLOT.height + PLOT.gap) + PLOT.bottom;
  const drawn = plots.map((plot, i) => {
    const y = PLOT.top + i * (PLOT.height + PLOT.gap);
    return `<g transform="translate(${PLOT.labels},${y})">${draw(plot, report)}</g>`;
  });
  const end = PLOT.top + plots.length * (PLOT.height + PLOT.gap);
  const times = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    `<text x="${PLOT.labels + share * PLOT.width}" y="${end}" text-anchor="middle">${
      formatTime(share * duration)
    }</text>`
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `role="img" font-family="system-ui, sans-serif" font-size="10" fill="currentColor">` +
    `<title>Simulation of the queue ${escape(queue)}</title>${STYLE}\n` +
    `${[...drawn, ...times].join("\n")}\n</svg>\n`;
}

function draw({ name, lines, format }: Plot, { duration, timeline: { step }, outages }: SimulationReport): string {
  const most = Math.max(...lines.flatMap(({ numbers }) => numbers), Number.MIN_VALUE);
  const x = (time: number) => round(Math.min(time / Math.max(duration, Number.MIN_VALUE), 1) * PLOT.width);
  const y = (value: number) => round((1 - value / most) * PLOT.height);
  const shades = outages.map(({ from, to }) =>
    `<rect x="${x(from)}" width="${round(x(to) - x(from))}" height="${PLOT.height}" fill="${RED}" fill-opacity="0.12"/>`
  );
  const paths = lines.map(({ color, numbers }) => {
    const points = numbers.map((value, i) => `${i === 0 ? "M" : "L"}${x((i + 0.5) * step)},${y(value)}`).join("");
    return `<path d="${points}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
  });
  return [
    `<text y="-6" font-size="11" font-weight="bold">${name}</text>`,
    ...shades,
    `<path d="M0,${PLOT.height}H${PLOT.width}M0,0H${PLOT.width}" stroke="${GREY}" stroke-opacity="0.4"/>`,
    `<text x="-7" y="3" text-anchor="end">${format(most === Number.MIN_VALUE ? 0 : most)}</text>`,
    `<text x="-7" y="${PLOT.height + 3}" text-anchor="end">0</text>`,
    ...paths,
  ].join("");
}

function round(pixels: number): number {
  return Math.round(pixels * 100) / 100;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
