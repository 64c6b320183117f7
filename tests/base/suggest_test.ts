import { assertEquals } from "@std/assert";
import { suggest } from "../../lib/base/suggest.ts";

Deno.test("the known name closest to the given one is suggested, or the first of several", () => {
  const cases: [given: string, known: string[], suggested: string | undefined][] = [
    ["brust", ["rate", "burst"], "burst"],
    ["RATE", ["rate", "burst"], "rate"],
    ["maxdelay", ["baseDelay", "maxDelay"], "maxDelay"],
    ["limiter", ["limiters"], "limiters"],
    ["abcd", ["abxy", "abcx"], "abcx"],
    ["abcd", ["abce", "abcf"], "abce"],
    ["abcd", ["abxy"], "abxy"], // two letters differ
    ["abcd", ["axyz"], undefined], // three letters differ
    ["abcdefghi", ["abcdefxyz"], "abcdefxyz"], // three of nine letters differ
    ["abcdefghi", ["abcdewxyz"], undefined], // four of nine letters differ
    ["abcdefg", ["abcdxyz"], undefined], // three of seven letters differ
    ["abxxcd", ["abcd"], "abcd"], // two letters too many
    ["abcd", ["abxxcd"], "abxxcd"], // two letters too few
    ["abcd", ["ABCD"], "ABCD"],
    ["kubernetes", ["rate", "burst"], undefined],
    ["ab", ["xy"], undefined], // no letter matches
    ["a", ["b"], undefined],
    ["", ["rate"], undefined],
    ["abc", [], undefined],
    ["x".repeat(40), ["x".repeat(39)], "x".repeat(39)],
    ["x".repeat(39), ["x".repeat(40)], "x".repeat(40)],
    ["x".repeat(41), ["x".repeat(40)], undefined], // names longer than 40 letters are not compared
    ["x".repeat(40), ["x".repeat(41)], undefined],
    ["x", new Array(201).fill("xx"), undefined],
    ["x", new Array(200).fill("xx"), "xx"],
    [`a"c`, [`a"b`], `a"b`],
  ];
  for (const [given, known, suggested] of cases) {
    const expected = suggested === undefined ? "" : `; did you mean ${JSON.stringify(suggested)}?`;
    assertEquals(suggest(given, known), expected, `${given} of ${known.slice(0, 3)}`);
  }
});
