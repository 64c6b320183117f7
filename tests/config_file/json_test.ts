/** Tests of JSON in files: each mistake is refused with its place, and every valid text is parsed. */

import { assert, assertEquals } from "@std/assert";
import { parseJson } from "../../packages/config-file/json.ts";
import { randomNumbers } from "../queue_helpers.ts";

/** Returns the places of the problems of a text. */
function placesOf(text: string): (readonly [line: number | undefined, column: number | undefined])[] {
  const parsed = parseJson(text);
  assert("problems" in parsed, text);
  return parsed.problems.map(({ line, column }) => [line, column]);
}

Deno.test("json: a syntax error is refused with its place", () => {
  const cases: [text: string, line: number, column: number][] = [
    ["", 1, 1],
    [" \n ", 2, 2],
    ["hello", 1, 1],
    ["{} {}", 1, 4],
    ["{}\n\n}", 3, 1],
    ["[1 2]", 1, 4],
    ["[1}", 1, 3],
    ["[1,]", 1, 4],
    ["[1", 1, 3],
    ["{'a': 1}", 1, 2],
    ["{1: 1}", 1, 2],
    [`{"a" 1}`, 1, 6],
    [`{"a":}`, 1, 6],
    [`{"a": 1,}`, 1, 9],
    [`{"a": {"b": []`, 1, 15],
    [`{\n  "a": 1,\n  // why\n  "b": 2\n}`, 3, 3],
    [`{\r\n  "a": [\r\n    1,\r\n    undefined\r\n  ]\r\n}`, 4, 5],
    [`{"a": NaN}`, 1, 7],
    ["[01]", 1, 3],
    ["[1\u00a0]", 1, 3],
    [`["ü😀", x]`, 1, 9], // the position counts UTF-16 code units
    ['["a\t"]', 1, 2],
    ['["\\x41"]', 1, 2],
    ["[1.]", 1, 2],
    [`["${"\\u00e9".repeat(100_000)}" 1]`, 1, 600_005],
    ["[".repeat(300), 1, 201],
  ];
  for (const [text, line, column] of cases) assertEquals(placesOf(text), [[line, column]], text.slice(0, 40));
});

Deno.test("json: a name that occurs twice in an object is refused, with the place of each repetition", () => {
  assertEquals(placesOf(`{"toString":1,"a":2,"toString":3,\n"toString":4}`), [[1, 21], [2, 1]]);
  assertEquals(placesOf(`[[],[1,{"x":1,"\\u0078":2}]]`), [[1, 15]]);
  assertEquals(placesOf(`{"__proto__":1,"__proto__":2}`), [[1, 16]]);
});

Deno.test("json: of random texts, those are parsed that JSON.parse parses, to the same values", () => {
  const random = randomNumbers(7);
  const tokens = [
    ...["{", "}", "[", "]", ":", ",", '"a"', '"', "\\", "\\u", "d", "x", "'", "null", "nul", "true"],
    ...[
      "1",
      "0",
      "-",
      ".",
      "e",
      "+",
      "/",
      "*",
      "//",
      "/*",
      " ",
      "\n",
      "\u00a0",
      "\u2028",
      "\ufeff",
      "\u000b",
      "\u0000",
    ],
  ];
  let valid = 0;
  for (let round = 0; round < 20_000; round++) {
    const length = 1 + Math.floor(random() * 5);
    const text = Array.from({ length }, () => tokens[Math.floor(random() * tokens.length)]!).join("");
    const expected = jsonOf(text);
    const parsed = parseJson(text);
    assertEquals("document" in parsed ? JSON.stringify(parsed.document) : undefined, expected, text);
    if (expected !== undefined) valid++;
  }
  assert(valid > 500, `${valid}`);
});

/** Returns a valid text in its shortest form, or `undefined` if the text is not JSON. */
function jsonOf(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

Deno.test("json: every valid text is parsed as by JSON.parse", () => {
  const texts = [
    ...["-0", "1E-5", "-12.5e+10", "1e999", "true", "null", '""', "[]", "{}", " [ ] ", "\t{\r\n}\n"],
    ...['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00"', '"\u2028\u2029\u007f"', '"\\u0000"'],
    ...['{"a":{"a":1},"b":[{"a":2},{"a":3}]}', "[[[[]]],{}]", '{"__proto__":1}', '{"":""}', '{"a":"a","b":"a"}'],
  ];
  for (const text of texts) {
    const parsed = parseJson(text);
    assert("document" in parsed, text);
    assertEquals(JSON.stringify(parsed.document), jsonOf(text), text);
  }
});
