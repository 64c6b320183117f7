import { parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";

export const BLUE = "#3b82f6";
export const RED = "#e5534b";
export const GREY = "#818b98";

const CONFIG: NonNullable<TopLevelSpec["config"]> = {
  aria: false,
  font: "system-ui, sans-serif",
  view: { stroke: null },
  title: {
    color: "currentColor",
    subtitleColor: "currentColor",
    anchor: "start",
    frame: "group",
    subtitleFontSize: 10,
  },
  axis: { labelColor: "currentColor", titleColor: "currentColor", gridColor: GREY, gridOpacity: 0.3 },
  axisX: { tickCount: 4, grid: false, domainColor: GREY, tickColor: GREY, titleFontWeight: "normal" },
  axisY: { domain: false, ticks: false },
  line: { color: BLUE },
  point: { color: BLUE },
  text: { color: "currentColor", fontSize: 11 },
};

// An SVG can't read the theme of its page, but it can query the reader's preferred color scheme.
const STYLE = `<style>svg { color: #1f2328 } @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }</style>`;

/** Returns a plot as SVG. The image follows the reader's preferred color scheme. */
export async function draw(plot: TopLevelSpec): Promise<string> {
  const spec: TopLevelSpec = { background: "transparent", padding: 8, ...plot, config: CONFIG };
  const svg = await new View(parse(compile(spec).spec), { renderer: "none" }).toSVG();
  // Numbers are rounded because the last digits of a logarithm depend on the runtime.
  const rounded = svg.replace(/\d+\.\d+/g, (number) => String(Math.round(Number(number) * 100) / 100));
  return rounded.replace(/<svg[^>]*>/, `$&${STYLE}`) + "\n";
}
