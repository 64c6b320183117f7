import { LineNumbers } from "./line_numbers.ts";

/** Line of the input that becomes an item. */
export interface Line {
  /** Text of the line. */
  readonly text: string;
  /** Position among the items of the input, counted from 1. */
  readonly number: number;
}

/** Largest number of lines to read ahead. Children start more slowly if this process uses more memory. */
const MAX_LINES = 10_000;
/** Largest number of characters to read ahead. */
const MAX_CHARACTERS = 4_000_000;
/** Minimum number of lines to discard from the start of the array at once. */
const MIN_CUT = 1000;

/** Options of a {@linkcode Backlog}. */
export interface BacklogOptions {
  /** Whether equal lines become one item. */
  readonly isDistinct: boolean;
  /**
   * Lines to leave out because an earlier run completed them. The number stored for a line is 1 plus the number of its
   * successes.
   */
  readonly done: LineNumbers | undefined;
}

/** Lines that were read ahead, in the order of the input. */
export class Backlog {
  /** Number of items so far, including items that an earlier run completed. */
  total = 0;
  /** Number of lines left out because they are equal to an earlier line. */
  folded = 0;
  /** Number of items that an earlier run completed. */
  doneBefore = 0;
  readonly #isDistinct: boolean;
  /**
   * Known lines. The number of a line is 1, plus the number of times that the line must still be left out because an
   * earlier run completed it.
   */
  readonly #known: LineNumbers | undefined;
  #lines: Line[] = [];
  #next = 0;
  #characters = 0;

  /** Creates an empty backlog. */
  constructor({ isDistinct, done }: BacklogOptions) {
    this.#isDistinct = isDistinct;
    this.#known = done ?? (isDistinct ? new LineNumbers() : undefined);
  }

  /** Whether the backlog is full, so that no more lines should be added for now. */
  get isFull(): boolean {
    return this.#lines.length - this.#next >= MAX_LINES || this.#characters >= MAX_CHARACTERS;
  }

  /** Whether the backlog has no lines. */
  get isEmpty(): boolean {
    return this.#next === this.#lines.length;
  }

  /**
   * Adds a line, unless an earlier run completed it. If `isDistinct` is true, a line equal to an earlier line is left
   * out too.
   */
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

  /** Removes and returns the next line; `undefined` if there is none. */
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
