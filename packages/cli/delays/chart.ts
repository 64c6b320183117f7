import { formatDuration, inOneLine } from "@workqueue/core/internal";
import type { LimiterDelays } from "./measure.ts";
import { longestOf, scaleDelay } from "./scale.ts";
import { rowsOf } from "./table.ts";

/** Characters from which a bar is drawn, from empty to full, in steps of one eighth. */
const BLOCKS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
const MAX_BAR = 60;
const MIN_BAR = 8;

/**
 * Draws the delays of limiters for a terminal. Each limiter has a row with a bar for each failure.
 *
 * @param limiters The limiters and their delays.
 * @param width Width of the terminal, in characters.
 * @returns The chart, which ends with a line feed.
 */
export function chartOf(limiters: readonly LimiterDelays[], width: number): string {
  const max = longestOf(limiters);
  const blocks = limiters.map((limiter) => {
    const [heading = "", ...rows] = rowsOf(limiter);
    const room = Math.min(MAX_BAR, Math.max(MIN_BAR, width - heading.length - 3));
    const bars = limiter.delays.map((delay) => drawBar(scaleDelay(delay, max) * room));
    const description = inOneLine(`${limiter.title}: ${limiter.description.join("\n").replaceAll(/,?\n/g, ", ")}`);
    return [description, heading, ...rows.map((row, i) => `${row}  ${bars[i]}`.trimEnd()), ""].join("\n");
  });
  const notes = `Each attempt fails at once. The bars are logarithmic, up to ${formatDuration(max)}.\n`;
  return [...blocks, notes].join("\n");
}

function drawBar(length: number): string {
  const eighths = Math.round(length * 8);
  return "█".repeat(Math.floor(eighths / 8)) + BLOCKS[eighths % 8];
}
