import { cosineOfTurns, log } from "./arithmetic.ts";

/**
 * Random numbers that depend only on a seed: the same on every runtime. The generator is sfc32, from PractRand by Chris
 * Doty-Humphrey.
 */
export class RandomNumbers {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  private constructor(a: number, b: number, c: number) {
    this.#a = a | 0;
    this.#b = b | 0;
    this.#c = c | 0;
    for (let i = 0; i < 12; i++) this.#next();
  }

  /**
   * Creates a generator from a seed, the name of the use, and up to two numbers. Different uses and numbers give
   * independent sequences. So two simulations with the same seed draw the same numbers for the same purpose, even if
   * their configs differ.
   */
  static for(seed: number, use: string, one = 0, two = 0): RandomNumbers {
    let hash = 0x811c9dc5; // FNV-1a
    for (let i = 0; i < use.length; i++) hash = Math.imul(hash ^ use.charCodeAt(i), 0x01000193);
    return new RandomNumbers(
      hash ^ Math.imul(seed, 0x9e3779b1),
      Math.imul(one, 0x85ebca6b) ^ Math.floor(one / 2 ** 32) ^ Math.floor(seed / 2 ** 32),
      Math.imul(two + 1, 0xc2b2ae35),
    );
  }

  /** Returns a number from 0 up to but not including 1. */
  uniform(): number {
    return ((this.#next() >>> 5) * 67_108_864 + (this.#next() >>> 6)) / 9_007_199_254_740_992;
  }

  /** Returns a number with the standard exponential distribution. Its mean is 1. */
  exponential(): number {
    return -log(1 - this.uniform());
  }

  /** Returns a number with the standard normal distribution, by the method of Box and Muller (1958). */
  normal(): number {
    return Math.sqrt(2 * this.exponential()) * cosineOfTurns(this.uniform());
  }

  #next(): number {
    const sum = (this.#a + this.#b | 0) + this.#counter | 0;
    this.#counter = this.#counter + 1 | 0;
    this.#a = this.#b ^ this.#b >>> 9;
    this.#b = this.#c + (this.#c << 3) | 0;
    this.#c = (this.#c << 21 | this.#c >>> 11) + sum | 0;
    return sum;
  }
}
