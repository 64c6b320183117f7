/** Labels of a number: the name of what it is a number of, and perhaps another label. */
export interface Labels {
  /** The name. */
  readonly name: string;
  /** The value of the other label, by its own name. */
  readonly [label: string]: string;
}

/**
 * Counter or gauge that is a plain number, such as a metric of one queue, and is read when metrics are collected.
 * Queues count far more often than anybody collects, and a count takes about a nanosecond.
 */
export class LabelledNumber {
  /** The count, or the latest value. */
  value = 0;
  /** The labels. */
  readonly labels: Labels;

  /** Makes a number, which is 0. */
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

/** Numbers of one metric, one for each combination of labels. */
export class LabelledNumbers<N extends LabelledNumber = LabelledNumber> {
  /** By name, and by the value of the other label. */
  readonly #numbers = new Map<string, Map<string, N>>();
  readonly #label: string | undefined;
  readonly #make: (labels: Labels) => N;

  /**
   * Makes an empty set of numbers.
   *
   * @param label The name of the other label; `undefined` if there is none.
   * @param make Makes a number.
   */
  constructor(label: string | undefined, make: (labels: Labels) => N) {
    this.#label = label;
    this.#make = make;
  }

  /** Returns the number with a name and a value of the other label. Makes it if there is none. */
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

  /** Returns the numbers of a name, or only the one with this value of the other label. Makes none. */
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

  /** Removes the numbers of a name, and returns them. */
  remove(name: string): N[] {
    const removed = this.find(name);
    this.#numbers.delete(name);
    return removed;
  }
}
