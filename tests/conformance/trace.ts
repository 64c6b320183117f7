/** A file of recorded traces. */
export interface Vectors {
  readonly family: string;
  readonly seed: number;
  /** The name of each operation; a trace has its place among these. */
  readonly operations: readonly string[];
  readonly traces: readonly Value[][];
}

/** Traces are numbers, but for the limiter that some begin with. */
export type Value = number | LimiterSpec;

/** The kind of a limiter and what it is made with. */
export type LimiterSpec = [kind: string, ...Value[]];

/** Something came out differently here. */
export class Difference extends Error {}

/** From here on, in nanoseconds, a delay is never over: some 146 years. */
const NEVER = 2 ** 62;

/** Go's longest duration, as the number that JSON makes of it. */
const LONGEST = 2 ** 63;

/** Reads a trace, and compares what was recorded with what happens here. */
export class Trace {
  /** How many operations were read. */
  operations = 0;
  /** How often the Go package did the other thing that we mean to do differently. */
  readonly exceptions = new Map<string, number>();
  #operation = "";
  #read = 0;
  readonly #values: readonly Value[];
  readonly #names: readonly string[];

  constructor(
    readonly index: number,
    values: readonly Value[],
    names: readonly string[],
  ) {
    this.#values = values;
    this.#names = names;
  }

  /** The operation that is being read, for messages. */
  get place(): string {
    return `operation ${this.operations - 1} (${this.#operation})`;
  }

  /** Reads the name of the next operation; `undefined` at the end. */
  operation(): string | undefined {
    if (this.#read === this.#values.length) return undefined;
    this.operations++;
    const code = this.next();
    this.#operation = this.#names[code] ?? `number ${code}, which has no name`;
    return this.#operation;
  }

  /** Reads a number. */
  next(): number {
    const value = this.#values[this.#read++];
    if (typeof value !== "number") {
      throw new Difference(`expected a number in the trace, found ${value}`);
    }
    return value;
  }

  /** Reads a limiter. */
  limiter(): LimiterSpec {
    const value = this.#values[this.#read++];
    if (!Array.isArray(value)) {
      throw new Difference(`expected a limiter in the trace, found ${value}`);
    }
    return value;
  }

  /** Compares with the next number. */
  same(what: string, received: number | boolean): void {
    this.equal(what, Number(received), this.next());
  }

  /** Compares with the next number, a count that may have a fraction. Sums of doubles are off by a little. */
  close(what: string, received: number): void {
    const expected = this.next();
    if (
      !(Math.abs(received - expected) <= 1e-9 * Math.max(1, Math.abs(expected)))
    ) this.fail(what, received, expected);
  }

  /**
   * Compares milliseconds with the next number, which is nanoseconds, and returns the latter.
   *
   * @param never What a delay is here that is never over.
   */
  delay(received: number, never: number): number {
    const expected = this.next();
    if (expected >= NEVER) {
      this.equal("delay", received, never);
      if (expected !== LONGEST) this.except("never");
    } else {
      // The same nanosecond. Beyond 26 days a double of milliseconds is coarser, by its last two bits.
      const tolerance = Math.max(0.5, expected * 2 ** -51);
      if (!(Math.abs(received * 1e6 - expected) <= tolerance)) {
        this.fail("delay in ns", received * 1e6, expected);
      }
    }
    return expected;
  }

  /** Compares with what the Go package need not have done. */
  equal(what: string, received: number | undefined, expected: number): void {
    if (received !== expected) this.fail(what, received, expected);
  }

  fail(what: string, received: unknown, expected: unknown): never {
    throw new Difference(`${what}: expected ${expected}, received ${received}`);
  }

  /** Counts a difference that is meant. */
  except(name: string): void {
    this.exceptions.set(name, (this.exceptions.get(name) ?? 0) + 1);
  }
}
