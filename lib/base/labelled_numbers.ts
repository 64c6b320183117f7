/** Labels of a number: the name of the queue, and possibly one more label. */
export interface Labels {
  /** Name of the queue. */
  readonly name: string;
  /** Value of the other label, if there is one. The property has the name of that label. */
  readonly [label: string]: string;
}

/**
 * Counter or gauge that is stored as a plain number, for example one metric of one queue. Changing the number takes
 * about a nanosecond. The number is not read until metrics are collected.
 */
export class LabelledNumber {
  /** The count, or the latest value. */
  value = 0;
  /** The labels. */
  readonly labels: Labels;

  /** Creates a number with the value 0. */
  constructor(labels: Labels) {
    this.labels = labels;
  }

  /** Adds 1. */
  inc(): void {
    this.value++;
  }

  /** Subtracts 1. */
  dec(): void {
    this.value--;
  }

  /** Replaces the value. */
  set(value: number): void {
    this.value = value;
  }
}

/** The numbers of one metric: one number for each combination of labels. */
export class LabelledNumbers<N extends LabelledNumber = LabelledNumber> {
  /** Numbers by name, then by the value of the other label. */
  readonly #numbers = new Map<string, Map<string, N>>();
  readonly #label: string | undefined;
  readonly #make: (labels: Labels) => N;

  /**
   * Creates an empty set of numbers.
   *
   * @param label Name of the other label; `undefined` if there is none.
   * @param make Creates a number with the given labels.
   */
  constructor(label: string | undefined, make: (labels: Labels) => N) {
    this.#label = label;
    this.#make = make;
  }

  /** Returns the number with this name and this value of the other label. Creates the number if it does not exist. */
  of(name: string, value = ""): N {
    let numbers = this.#numbers.get(name);
    if (numbers === undefined) this.#numbers.set(name, numbers = new Map());
    let number = numbers.get(value);
    if (number === undefined) {
      number = this.#make({ name, ...this.#label !== undefined && { [this.#label]: value } });
      numbers.set(value, number);
    }
    return number;
  }

  /**
   * Returns the numbers with this name, or only the number with this value of the other label. Never creates a number.
   */
  find(name: string, value?: string): N[] {
    const numbers = this.#numbers.get(name);
    if (value === undefined) return [...numbers?.values() ?? []];
    const number = numbers?.get(value);
    return number === undefined ? [] : [number];
  }

  /** Iterates over all numbers. */
  *all(): Generator<N> {
    for (const numbers of this.#numbers.values()) yield* numbers.values();
  }

  /** Removes the numbers with this name, and returns them. */
  remove(name: string): N[] {
    const removed = this.find(name);
    this.#numbers.delete(name);
    return removed;
  }
}
