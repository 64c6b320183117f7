/**
 * Logarithm, exponential, power and cosine from operations whose results IEEE 754 fixes: `+`, `-`, `*`, `/`, and the
 * bits of numbers. `Math.log` and similar functions may return different last digits in different JavaScript engines.
 *
 * All results are within a few units in the last place.
 *
 * @module
 */

/** Natural logarithm of 2, in two parts. The first has few bits, so that products with small integers are exact. */
const LN2_HIGH = 6.93147180369123816490e-1;
const LN2_LOW = 1.90821492927058770002e-10;
const SQRT2 = 1.4142135623730951;

const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);
/** Index of the word with the exponent. */
const HIGH = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;

/** Returns the natural logarithm of a positive finite number. */
export function log(x: number): number {
  let exponent = 0;
  if (x < 2.2250738585072014e-308) { // subnormal
    x *= 2 ** 54;
    exponent = -54;
  }
  float[0] = x;
  const word = words[HIGH]!;
  exponent += (word >>> 20) - 1023;
  words[HIGH] = (word & 0xfffff) | 0x3ff00000;
  let mantissa = float[0]!;
  if (mantissa > SQRT2) {
    mantissa /= 2;
    exponent++;
  }
  // log m = 2 artanh s, with |s| <= 0.172
  const s = (mantissa - 1) / (mantissa + 1);
  const z = s * s;
  let sum = 0;
  for (let n = 21; n >= 3; n -= 2) sum = (sum + 1 / n) * z;
  return exponent * LN2_HIGH + (2 * s + (2 * s * sum + exponent * LN2_LOW));
}

/** Returns e to the power of a number. */
export function exp(x: number): number {
  if (x > 709.782712893384) return Infinity;
  if (x < -745.1332191019412) return 0;
  const exponent = Math.round(x / (LN2_HIGH + LN2_LOW));
  const r = x - exponent * LN2_HIGH - exponent * LN2_LOW;
  let sum = 1;
  for (let n = 14; n >= 1; n--) sum = 1 + sum * r / n;
  // In two steps, because the power of two alone may be too small or too large for a number.
  const half = Math.trunc(exponent / 2);
  return sum * powerOfTwo(half) * powerOfTwo(exponent - half);
}

/** Returns a positive number to the power of another. */
export function power(base: number, exponent: number): number {
  if (exponent === 0 || base === 1) return 1;
  return base === 0 ? 0 : exp(exponent * log(base));
}

/** Returns the cosine of a number of turns; 1 is a full circle. */
export function cosineOfTurns(turns: number): number {
  const fraction = Math.abs(turns - Math.round(turns)); // 0 to 0.5
  const isFlipped = fraction > 0.25;
  const angle = (isFlipped ? 0.5 - fraction : fraction) * 6.283185307179586;
  const z = -angle * angle;
  let sum = 1;
  for (let n = 22; n >= 2; n -= 2) sum = 1 + sum * z / (n * (n - 1));
  return isFlipped ? -sum : sum;
}

/** Returns a power of two whose exponent is a whole number from -1022 to 1023. */
function powerOfTwo(exponent: number): number {
  words[HIGH] = (exponent + 1023) << 20;
  words[1 - HIGH] = 0;
  return float[0]!;
}
