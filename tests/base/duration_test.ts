import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { parseDuration } from "@workqueue/core";

const RULE = `must be a duration such as "250ms", "1h30m" or a number of milliseconds`;

Deno.test("a duration has numbers with units, in any order, which are added up", () => {
  const cases: [text: string, ms: number][] = [
    ["0", 0],
    ["5s", 5000],
    ["1478s", 1_478_000],
    ["250ms", 250],
    ["14s", 14_000],
    ["15m", 900_000],
    ["16h", 57_600_000],
    ["3h30m", 12_600_000],
    ["10.5s4m", 250_500],
    ["1h2m3.5s", 3_723_500],
    ["39h9m14.425s", 140_954_425],
    ["1s1s1s", 3000],
    ["1m1h", 3_660_000],
    ["100.00100s", 100_001],
    ["720h", 2_592_000_000],
  ];
  for (const [text, ms] of cases) assertEquals(parseDuration(text), ms, text);
});

Deno.test("a duration may be shorter than a millisecond", () => {
  const cases: [text: string, ms: number][] = [
    ["5us", 0.005],
    ["12µs", 0.012], // the micro sign
    ["12μs", 0.012], // the Greek letter
    ["11us", 0.011],
    ["6ns", 0.000006],
    ["1ms5us6ns", 1.005006],
    ["0.5us", 0.0005],
  ];
  for (const [text, ms] of cases) assertAlmostEquals(parseDuration(text), ms, 1e-12, text);
});

Deno.test("a decimal fraction of a unit is as exact as its whole nanoseconds", () => {
  const cases: [text: string, ms: number][] = [
    ["1.001s", 1001],
    ["1234567.890123456s", 1_234_567_890.123456], // 16 digits of nanoseconds
    ["1.005s", 1005],
    ["100ns", 0.0001],
    ["5.6s", 5600],
    ["517.3us", 0.5173],
    ["64.38us", 0.06438],
    ["123456.123456789s", 123_456_123.456_789],
    ["0.3333333333333333333h", 1_200_000],
    ["12.345ms", 12.345],
  ];
  for (const [text, ms] of cases) assertEquals(parseDuration(text), ms, text);
});

Deno.test("a fraction of a nanosecond is cut off, as in Go", () => {
  for (const [text, ns] of [["0.9ns", 0], ["1.9ns", 1], ["0.0000019ms", 1], ["-1.9ns", -1], ["1ns1.5ns", 2]] as const) {
    assertEquals(parseDuration(text) * 1e6 + 0, ns, text);
  }
});

Deno.test("digits may be missing on one side of the decimal point", () => {
  for (const text of ["5.s", "5.0s", "5.00s", "+5s", "05s"]) assertEquals(parseDuration(text), 5000, text);
  assertEquals(parseDuration(".5s"), 500);
  assertEquals(parseDuration("0.5s"), 500);
});

Deno.test("a sign applies to the whole duration", () => {
  assertEquals(parseDuration("-5s"), -5000);
  assertEquals(parseDuration("-2m3.4s"), -123_400);
  assertEquals(parseDuration("+2m3.4s"), 123_400);
  assertEquals(parseDuration("+0"), 0);
  assertEquals(Math.abs(parseDuration("-0")), 0);
});

Deno.test("a number is a number of milliseconds", () => {
  for (const ms of [0, 250, 0.5, -3, 1e15, Number.MAX_VALUE]) assertEquals(parseDuration(ms), ms);
});

Deno.test("a text that is not a duration is refused, with the text", () => {
  const texts = [
    ...["", " ", "3", "-", "+", ".", "s", "-.", ".s", "+.s", "-s", "ms", "3000000h m", "0.", "00", "--5s", "+-5s"],
    ...[
      "1d",
      "1w",
      "1S",
      "1H",
      "1 s",
      " 1s",
      "1s ",
      "1s\n",
      "1,5s",
      "1e3s",
      "0x1s",
      "1_000s",
      "1s2",
      "1..5s",
      "Infinity",
    ],
    ...["-1s-1s", "1s-1s", "NaN", "null", "١s", "5kms", "5mms", "5sm"],
  ];
  for (const text of texts) {
    const error = assertThrows(() => parseDuration(text), TypeError, undefined, JSON.stringify(text));
    assertEquals(error.message, `Cannot parse duration: 'text' ${RULE}, got ${JSON.stringify(text)}`);
  }
});

Deno.test("a text too long for a duration is refused at once, and shortened in the message", () => {
  assertEquals(parseDuration("0".repeat(98) + "5s"), 5000);
  assertThrows(() => parseDuration("0".repeat(99) + "5s"), TypeError);
  const { message } = assertThrows(() => parseDuration("1h".repeat(1_000_000)), TypeError);
  assertEquals(message, `Cannot parse duration: 'text' ${RULE}, got "${"1h".repeat(30)}…"`);
});

Deno.test("an invalid number is refused with a RangeError, and other values with a TypeError", () => {
  for (const value of [NaN, Infinity, -Infinity]) {
    const { message } = assertThrows(() => parseDuration(value), RangeError);
    assertEquals(message, `Cannot parse duration: 'text' ${RULE}, got ${value}`);
  }
  const others: [value: unknown, worded: string][] = [
    [undefined, "undefined"],
    [null, "null"],
    [true, "true"],
    [5n, "5n"],
    [Symbol("s"), "a symbol"],
    [["5s"], "an array"],
    [{ toString: () => "5s" }, "an object"],
    [() => "5s", "a function"],
  ];
  for (const [value, worded] of others) {
    const { message } = assertThrows(() => parseDuration(value as string), TypeError);
    assertEquals(message, `Cannot parse duration: 'text' ${RULE}, got ${worded}`);
  }
});
