/** File of recorded traces. */
export interface Vectors {
  readonly family: string;
  readonly seed: number;
  /** Names of the operations. A trace refers to an operation by its index. */
  readonly operations: readonly string[];
  readonly traces: readonly Value[][];
}

/** Value in a trace: a number, or the limiter at the start of the trace. */
export type Value = number | LimiterSpec;

/** Kind and arguments of a limiter. */
export type LimiterSpec = [kind: string, ...Value[]];

/** Thrown when a result differs from the recorded result. */
export class Difference extends Error {}

/** Delays of at least this many nanoseconds (about 146 years) are treated as infinite. */
const NEVER = 2 ** 62;

/** Go's longest duration in nanoseconds, as parsed from JSON. */
const LONGEST = 2 ** 63;

/** Reader of a trace, which compares the recorded results with the results of this package. */
export class Trace {
  /** Number of operations read so far. */
  operations = 0;
  /** Number of deliberate differences from the Go package, by name. */
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

  /** Operation that is being read, for error messages. */
  get place(): string {
    return `operation ${this.operations - 1} (${this.#operation})`;
  }

  /** Reads the next operation and returns its name; returns `undefined` at the end of the trace. */
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

  /** Compares a value with the next number in the trace. */
  same(what: string, received: number | boolean): void {
    this.equal(what, Number(received), this.next());
  }

  /**
   * Compares a fractional number with the next number in the trace. Allows a small difference, because sums of doubles
   * are inexact.
   */
  close(what: string, received: number): void {
    const expected = this.next();
    if (
      !(Math.abs(received - expected) <= 1e-9 * Math.max(1, Math.abs(expected)))
    ) this.fail(what, received, expected);
  }

  /**
   * Compares a delay in milliseconds with the next number, which is in nanoseconds. Returns that number.
   *
   * @param never Delay expected from this package if the recorded delay is infinite.
   */
  delay(received: number, never: number): number {
    const expected = this.next();
    if (expected >= NEVER) {
      this.equal("delay", received, never);
      if (expected !== LONGEST) this.except("never");
    } else {
      // Delays must match to the nanosecond. Beyond 26 days, a double that holds milliseconds is inexact in its last
      // two bits.
      const tolerance = Math.max(0.5, expected * 2 ** -51);
      if (!(Math.abs(received * 1e6 - expected) <= tolerance)) {
        this.fail("delay in ns", received * 1e6, expected);
      }
    }
    return expected;
  }

  /** Compares a value with an expected value that isn't recorded in the trace. */
  equal(what: string, received: number | undefined, expected: number): void {
    if (received !== expected) this.fail(what, received, expected);
  }

  fail(what: string, received: unknown, expected: unknown): never {
    throw new Difference(`${what}: expected ${expected}, received ${received}`);
  }

  /** Counts one occurrence of a deliberate difference. */
  except(name: string): void {
    this.exceptions.set(name, (this.exceptions.get(name) ?? 0) + 1);
  }
}
