const MIN_CAPACITY = 16;

/**
 * A first-in, first-out list in one array that wraps around its end.
 *
 * The capacity is a power of two, so that wrapping is a bit mask. It doubles when full and halves when
 * three quarters are empty: pushes and shifts cost the same on average whatever the length, and a list
 * that was long once does not keep its memory.
 */
export class RingBuffer<T> {
  #slots: (T | undefined)[] = new Array(MIN_CAPACITY).fill(undefined);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: T): void {
    if (this.#length === this.#slots.length) this.#resize(this.#length * 2);
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const value = this.#slots[this.#head];
    this.#slots[this.#head] = undefined; // or the list would keep it from being collected
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    if (this.#length < this.#slots.length / 4 && this.#slots.length > MIN_CAPACITY) {
      this.#resize(this.#slots.length / 2);
    }
    return value;
  }

  #resize(capacity: number): void {
    const slots = new Array<T | undefined>(capacity).fill(undefined);
    for (let i = 0; i < this.#length; i++) {
      slots[i] = this.#slots[(this.#head + i) & (this.#slots.length - 1)];
    }
    this.#slots = slots;
    this.#head = 0;
  }
}
