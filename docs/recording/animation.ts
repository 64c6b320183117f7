import type { Size } from "./capture.ts";
import type { Frame, Span, Style } from "./frames.ts";

/** Text alternative for a picture. */
export interface Words {
  readonly title: string;
  readonly description: string;
}

const FONT_SIZE = 14;
/** Width of a column, in pixels. Letters differ in width between fonts, so each span of text has an explicit width. */
const COLUMN = 8.4;
const ROW = 20;
const BASELINE = 15;
const MARGIN = 16;
/** Number of seconds for which the last frame is shown before the animation repeats. */
const PAUSE = 5;

const LIGHT = ["#1f2328", "#cf222e", "#1a7f37", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#59636e"];
const DARK = ["#9198a1", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#f0f6fc"];

/** Returns the CSS of a palette. Dim text is gray, because a dimmed color would be hard to read. */
function paletteOf(text: string, back: string, edge: string, dim: string, colors: readonly string[]): string {
  const rules = colors.map((color, i) => `.c${i}{fill:${color}}`);
  return `text{fill:${text}}.back{fill:${back};stroke:${edge}}${rules.join("")}.dim{fill:${dim}}`;
}

/**
 * Returns an SVG that plays frames in a loop, without a script. If the reader prefers reduced motion, the SVG shows
 * only the last frame.
 *
 * @param frames The frames.
 * @param size The size of the terminal.
 * @param words The text alternative.
 * @returns The SVG.
 */
export function animate(frames: readonly Frame[], size: Size, words: Words): string {
  const width = Math.ceil(size.columns * COLUMN) + 2 * MARGIN;
  const height = size.rows * ROW + 2 * MARGIN;
  // IDs of rows, by the content of the row. Most rows appear in several frames.
  const rows = new Map<string, string>();
  const film = frames.map((frame, i) => {
    const used = frame.rows.map(drawRow).map((row, y) => {
      if (row === "") return "";
      if (!rows.has(row)) rows.set(row, `r${rows.size}`);
      return `<use href="#${rows.get(row)}" y="${y * ROW}"/>`;
    });
    return `<g transform="translate(0 ${i * height})">${used.join("")}</g>`;
  });
  const definitions = [...rows].map(([row, id]) => `<g id="${id}">${row}</g>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `role="img" aria-labelledby="title description" xml:space="preserve">`,
    `<title id="title">${escape(words.title)}</title>`,
    `<desc id="description">${escape(words.description)}</desc>`,
    `<style>`,
    `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;white-space:pre}`,
    `.bold{font-weight:bold}`,
    paletteOf("#1f2328", "#f6f8fa", "#d1d9e0", "#59636e", LIGHT),
    `@media(prefers-color-scheme:dark){${paletteOf("#f0f6fc", "#151b23", "#3d444d", "#9198a1", DARK)}}`,
    playback(frames, height),
    `</style>`,
    `<defs>`,
    ...definitions,
    `</defs>`,
    `<rect class="back" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `<g transform="translate(${MARGIN} ${MARGIN})"><g class="film">`,
    ...film,
    `</g></g>`,
    `</svg>`,
    "",
  ].join("\n");
}

/**
 * Returns the CSS that plays the frames. The frames are stacked vertically like a film strip, and the strip jumps from
 * one frame to the next.
 */
function playback(frames: readonly Frame[], height: number): string {
  const seconds = (frames.at(-1)?.at ?? 0) + PAUSE;
  const steps = frames.map(({ at }, i) => `${round(100 * at / seconds)}%{transform:translateY(${-i * height}px)}`);
  const rest = `transform:translateY(${-(frames.length - 1) * height}px)`;
  return [
    `.film{${rest};animation:film ${round(seconds)}s step-end infinite}`,
    `@keyframes film{${steps.join("")}to{${rest}}}`,
    `@media(prefers-reduced-motion:reduce){.film{animation:none}}`,
  ].join("\n");
}

function drawRow(spans: readonly Span[]): string {
  return spans.map(({ column, text, style }) => {
    const isAscii = /^[ -~]*$/.test(text); // other characters may come from a fallback font with another width
    const length = `textLength="${round([...text].length * COLUMN)}"${
      isAscii ? "" : ' lengthAdjust="spacingAndGlyphs"'
    }`;
    return `<text${classOf(style)} x="${round(column * COLUMN)}" y="${BASELINE}" ${length}>${escape(text)}</text>`;
  }).join("");
}

function classOf({ color, isBold, isDim }: Style): string {
  const names = [...(color === undefined ? [] : [`c${color}`]), ...(isBold ? ["bold"] : []), ...(isDim ? ["dim"] : [])];
  return names.length === 0 ? "" : ` class="${names.join(" ")}"`;
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
