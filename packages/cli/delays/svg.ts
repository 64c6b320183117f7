import { inOneLine } from "@workqueue/core/internal";
import type { LimiterDelays } from "./measure.ts";
import { longestOf, scaleDelay } from "./scale.ts";

/** Sizes of a plot and of the space around it, in pixels. */
const PLOT = { width: 132, height: 220, gap: 20, titleHeight: 18, lineHeight: 12, axisHeight: 40, labelWidth: 52 };
const PADDING = 8;
const MAX_IN_ROW = 7;
const MAX_LINES = 5;
/** Approximate number of characters that fit above a plot. */
const MAX_LINE = 26;

const BLUE = "#3b82f6";
const GREY = "#818b98";

/** Ticks of the delay axis. */
const TICKS: readonly (readonly [ms: number, label: string])[] = [
  [0, "0"],
  [10, "10 ms"],
  [100, "100 ms"],
  [1000, "1 s"],
  [10_000, "10 s"],
  [60_000, "1 min"],
  [600_000, "10 min"],
  [3_600_000, "1 h"],
  [36_000_000, "10 h"],
  [604_800_000, "7 d"],
];

// An SVG image doesn't know the colors of its page, but it can query whether the reader prefers dark colors.
const STYLE = `<style>svg { color: #1f2328 } @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }</style>`;

/**
 * Draws the delays of limiters as an image: plots side by side with a common logarithmic axis.
 *
 * @param limiters The limiters and their delays. All limiters must have the same number of delays.
 * @returns The image as SVG, which ends with a line feed. The image adapts to readers who prefer dark colors.
 */
export function svgOf(limiters: readonly LimiterDelays[]): string {
  const max = Math.max(TICKS[1]![0], longestOf(limiters)) * 1.2;
  const lines = Math.min(MAX_LINES, Math.max(...limiters.map(({ description }) => description.length)));
  const top = PLOT.titleHeight + lines * PLOT.lineHeight;
  const rowHeight = top + PLOT.height + PLOT.axisHeight;
  const plots = limiters.map((limiter, i) => {
    const column = i % MAX_IN_ROW;
    const x = PADDING + PLOT.labelWidth + column * (PLOT.width + PLOT.gap);
    const y = PADDING + Math.floor(i / MAX_IN_ROW) * (rowHeight + PLOT.gap) + top;
    return `<g transform="translate(${x},${y})">${drawPlot(limiter, lines, max, column === 0)}</g>`;
  });
  const columns = Math.min(limiters.length, MAX_IN_ROW);
  const rows = Math.ceil(limiters.length / MAX_IN_ROW);
  const width = 2 * PADDING + PLOT.labelWidth + columns * (PLOT.width + PLOT.gap);
  const height = 2 * PADDING + rows * (rowHeight + PLOT.gap) - PLOT.gap;
  const title = `Delays after each of ${limiters[0]?.delays.length ?? 0} failures of an item`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `role="img" font-family="system-ui, sans-serif" font-size="10" fill="currentColor">` +
    `<title>${title}</title>${STYLE}\n${plots.join("\n")}\n</svg>\n`;
}

function drawPlot(
  { title, description, delays }: LimiterDelays,
  lines: number,
  max: number,
  hasLabels: boolean,
): string {
  const { width, height, lineHeight, titleHeight } = PLOT;
  const x = (failure: number) => round(failure / delays.length * width);
  const y = (delay: number) => round((1 - scaleDelay(delay, max)) * height);
  const top = -lines * lineHeight - titleHeight;
  const texts = [
    `<text y="${top + 10}" font-size="13" font-weight="bold">${escape(title)}</text>`,
    ...description.slice(0, lines).map((line, i) => `<text y="${top + 24 + i * lineHeight}">${escape(line)}</text>`),
  ];
  const grid = TICKS.filter(([ms]) => ms <= max).flatMap(([ms, label]) => [
    `<path d="M0,${y(ms)}H${width}" stroke="${GREY}" stroke-opacity="0.3"/>`,
    ...(hasLabels ? [`<text x="-7" y="${y(ms) + 3}" text-anchor="end">${label}</text>`] : []),
  ]);
  const axis = [
    `<path d="M0,${height}H${width}" stroke="${GREY}"/>`,
    ...failureTicks(delays.length).flatMap((failure) => [
      `<path d="M${x(failure)},${height}v5" stroke="${GREY}"/>`,
      `<text x="${x(failure)}" y="${height + 15}" text-anchor="middle">${failure}</text>`,
    ]),
    `<text x="${width / 2}" y="${height + 30}" text-anchor="middle" font-size="11">failures</text>`,
  ];
  const steps = delays.map((delay, i) => `${i === 0 ? `M${x(1)},` : `H${x(i + 0.5)}V`}${y(delay)}`).join("");
  const line = [
    `<path d="${steps}H${width}" fill="none" stroke="${BLUE}" stroke-width="2"/>`,
    ...delays.map((delay, i) => `<circle cx="${x(i + 1)}" cy="${y(delay)}" r="2" fill="${BLUE}"/>`),
  ];
  return [...texts, ...grid, ...axis, ...line].join("");
}

/** Returns the ticks of the failure axis: 0 and at most five other ticks. The step is 1, 2, 5, 10 and so on. */
function failureTicks(failures: number): number[] {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => failures / step <= 5) ?? failures;
  return Array.from({ length: Math.floor(failures / step) + 1 }, (_, i) => i * step);
}

/** Rounds a coordinate because the last digits of a logarithm depend on the runtime. */
function round(pixels: number): number {
  return Math.round(pixels * 100) / 100;
}

function escape(text: string): string {
  const shown = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text;
  return inOneLine(shown).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
