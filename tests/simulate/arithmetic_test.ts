import { assert, assertEquals } from "@std/assert";
import { cosineOfTurns, exp, log, power } from "../../packages/simulate/random/arithmetic.ts";

/** Asserts that two numbers differ by at most a few units in the last place. */
function assertClose(actual: number, expected: number, name: string): void {
  const difference = Math.abs(actual - expected);
  assert(difference <= Math.max(Math.abs(expected) * 1e-15, 1e-300), `${name}: ${actual} instead of ${expected}`);
}

Deno.test("arithmetic: the logarithm matches the runtime's up to the last digits", () => {
  for (let x = 1e-300; x < 1e300; x *= 1.37) assertClose(log(x), Math.log(x), `log ${x}`);
  for (let x = 0.5; x < 2; x += 0.001) {
    const difference = Math.abs(log(x) - Math.log(x));
    assert(difference <= 3e-16, `log ${x}: ${log(x)}`);
  }
  assertEquals([log(1), log(5e-324)], [0, -744.4400719213812]);
});

Deno.test("arithmetic: the exponential function matches the runtime's up to the last digits", () => {
  for (let x = -700; x < 700; x += 0.731) {
    assert(Math.abs(exp(x) / Math.exp(x) - 1) < 1e-13, `exp ${x}: ${exp(x)}`);
  }
  for (let x = -2; x < 2; x += 0.01) assertClose(exp(x), Math.exp(x), `exp ${x}`);
  assertEquals([exp(0), exp(-800), exp(800), exp(-745) > 0], [1, 0, Infinity, true]);
});

Deno.test("arithmetic: powers and cosines match the runtime's", () => {
  for (const [base, exponent] of [[2, 10], [10, -3], [1.5, 0.5], [1000, -1.1]] as const) {
    assert(Math.abs(power(base, exponent) / base ** exponent - 1) < 1e-14, `${base} ** ${exponent}`);
  }
  assertEquals([power(0, 2), power(7, 0), power(1, 99)], [0, 1, 1]);
  for (let turns = -3; turns < 3; turns += 0.01) {
    assert(Math.abs(cosineOfTurns(turns) - Math.cos(2 * Math.PI * turns)) < 1e-14, `cosine of ${turns} turns`);
  }
  assertEquals([cosineOfTurns(0), cosineOfTurns(0.5), cosineOfTurns(1)], [1, -1, 1]);
});

Deno.test("arithmetic: the results have the same bits on every runtime", () => {
  const bits = new Float64Array(4000);
  for (let i = 0; i < 1000; i++) {
    const x = (i + 1) * 0.7310585;
    bits.set([log(x), exp(x / 3), power(x, 1.7), cosineOfTurns(x)], 4 * i);
  }
  let hash = 0;
  for (const word of new Uint32Array(bits.buffer)) hash = Math.imul(hash, 31) + word | 0;
  assertEquals(hash, 972_375_825);
});
