import { LineNumbers } from "./line_numbers.ts";

/** A line that an item is made of. */
export interface Line {
  /** The text. */
  readonly text: string;
  /** Its place among the items of the input: 1 for the first. */
  readonly number: number;
}

/** How much may be read ahead of the work: lines, and characters. What lies in memory makes the start of children slower. */
const MAX_LINES = 10_000;
const MAX_CHARACTERS = 4_000_000;
/** How many entries that were handed on may stay in the list before it is cut. */
const MIN_CUT = 1000;

/** How a {@linkcode Backlog} takes lines for the same. */
export interface BacklogOptions {
  /** Whether a line is folded into an equal one that came before. */
  readonly isDistinct: boolean;
  /** What an earlier run has done, which is left out: for each line, one more than how often it has succeeded. */
  readonly done: LineNumbers | undefined;
}

/** The lines of the input that were not handed on, in order. */
export class Backlog {
  /** How many items the lines make, those that an earlier run has done among them. */
  total = 0;
  /** How many lines were folded into one that came before. */
  folded = 0;
  /** How many items an earlier run has done. */
  doneBefore = 0;
  readonly #isDistinct: boolean;
  /** For each line that is known, one more than how often it is still to be left out, as an earlier run has done it. */
  readonly #known: LineNumbers | undefined;
  #lines: Line[] = [];
  #next = 0;
  #characters = 0;

  /** Begins with no lines. */
  constructor({ isDistinct, done }: BacklogOptions) {
    this.#isDistinct = isDistinct;
    this.#known = done ?? (isDistinct ? new LineNumbers() : undefined);
  }

  /** Whether no more lines should be taken in for now. */
  get isFull(): boolean {
    return this.#lines.length - this.#next >= MAX_LINES || this.#characters >= MAX_CHARACTERS;
  }

  /** Takes a line in, unless it came before, whatever has become of it since. */
  add(text: string): void {
    const isDistinct = this.#isDistinct;
    const before = this.#known?.change(text, (before) => isDistinct ? 1 : before > 1 ? before - 1 : before) ?? 0;
    if (isDistinct && before === 1) {
      this.folded++;
      return;
    }
    this.total++;
    if (before > 1) this.doneBefore++;
    else {
      this.#lines.push({ text, number: this.total });
      this.#characters += text.length;
    }
  }

  /** Hands on the next line; `undefined` if there is none now. */
  shift(): Line | undefined {
    const line = this.#lines[this.#next];
    if (line === undefined) return undefined;
    this.#next++;
    this.#characters -= line.text.length;
    if (this.#next >= MIN_CUT && this.#next * 2 >= this.#lines.length) {
      this.#lines = this.#lines.slice(this.#next);
      this.#next = 0;
    }
    return line;
  }
}
