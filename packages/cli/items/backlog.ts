import { LineNumbers } from "./line_numbers.ts";

/** A line of the input that becomes an item. */
export interface Line {
  /** The text. */
  readonly text: string;
  /** Position among the items of the input: 1 for the first. */
  readonly number: number;
}

/** Most lines and characters that are read ahead. More memory in use makes starts of children slower. */
const MAX_LINES = 10_000;
const MAX_CHARACTERS = 4_000_000;
/** Minimum number of entries to cut from the list at once, after they were handed on. */
const MIN_CUT = 1000;

/** Options of a {@linkcode Backlog}. */
export interface BacklogOptions {
  /** Whether a line is folded into an equal one that came before. */
  readonly isDistinct: boolean;
  /** Lines to leave out, as an earlier run has done them: for each, one more than its number of successes. */
  readonly done: LineNumbers | undefined;
}

/** The lines of the input that were not handed on yet, in order. */
export class Backlog {
  /** Number of items so far, including those that an earlier run has done. */
  total = 0;
  /** Number of lines that were folded into an equal one before them. */
  folded = 0;
  /** Number of items that an earlier run has done. */
  doneBefore = 0;
  readonly #isDistinct: boolean;
  /** For each known line, one more than the number of times it is still left out, as an earlier run has done it. */
  readonly #known: LineNumbers | undefined;
  #lines: Line[] = [];
  #next = 0;
  #characters = 0;

  /** Makes a backlog without lines. */
  constructor({ isDistinct, done }: BacklogOptions) {
    this.#isDistinct = isDistinct;
    this.#known = done ?? (isDistinct ? new LineNumbers() : undefined);
  }

  /** Whether no more lines should be added for now. */
  get isFull(): boolean {
    return this.#lines.length - this.#next >= MAX_LINES || this.#characters >= MAX_CHARACTERS;
  }

  /** Adds a line, unless an equal one was added before, whatever its outcome. */
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

  /** Removes and returns the next line; `undefined` if there is none now. */
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
