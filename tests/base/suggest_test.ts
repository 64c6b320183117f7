import { assertEquals } from "@std/assert";
import { suggest } from "../../lib/base/suggest.ts";

Deno.test("a known name that is close to the one given is suggested, the closest and first of them", () => {
  const cases: [given: string, known: string[], suggested: string | undefined][] = [
    ["brust", ["rate", "burst"], "burst"],
    ["RATE", ["rate", "burst"], "rate"],
    ["maxdelay", ["baseDelay", "maxDelay"], "maxDelay"],
    ["limiter", ["limiters"], "limiters"],
    ["abcd", ["abxy", "abcx"], "abcx"],
    ["abcd", ["abce", "abcf"], "abce"],
    ["abcd", ["abxy"], "abxy"], // two letters off
    ["abcd", ["axyz"], undefined], // three
    ["abcdefghi", ["abcdefxyz"], "abcdefxyz"], // three of nine
    ["abcdefghi", ["abcdewxyz"], undefined], // four
    ["abcdefg", ["abcdxyz"], undefined], // three of seven
    ["abxxcd", ["abcd"], "abcd"], // two letters too many
    ["abcd", ["abxxcd"], "abxxcd"], // two too few
    ["abcd", ["ABCD"], "ABCD"],
    ["kubernetes", ["rate", "burst"], undefined],
    ["ab", ["xy"], undefined], // nothing is left of it
    ["a", ["b"], undefined],
    ["", ["rate"], undefined],
    ["abc", [], undefined],
    ["x".repeat(40), ["x".repeat(39)], "x".repeat(39)],
    ["x".repeat(39), ["x".repeat(40)], "x".repeat(40)],
    ["x".repeat(41), ["x".repeat(40)], undefined], // no person's misspelling
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
