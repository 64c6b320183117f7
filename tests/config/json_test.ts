/** Tests of text that is not JSON, or that contains a name twice. */

import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { parseJson } from "../../config/json.ts";
import { issuesOf } from "../helpers.ts";
import { randomNumbers } from "../queue_helpers.ts";

/** Loads text that is not JSON. Returns the line, the column and the expected token from the error message. */
function placeOf(text: string): { line: number; column: number; message: string } {
  const [issue, ...others] = issuesOf(() => loadConfig(text));
  assertEquals([issue?.path, others], ["", []]);
  const found = issue!.message.match(/^the text is not JSON: expected (.+) at line (\d+), column (\d+)$/);
  assert(found !== null, issue!.message);
  return { message: found[1]!, line: Number(found[2]), column: Number(found[3]) };
}

Deno.test("text that is not JSON is refused with the line, the column and the expected token", () => {
  const cases: [text: string, line: number, column: number, expected: string][] = [
    ["", 1, 1, "a value"],
    [" \n ", 2, 2, "a value"],
    ["hello", 1, 1, "a value"],
    ["'a'", 1, 1, "a value"],
    ["{} {}", 1, 4, "the end"],
    ["{}\n\n}", 3, 1, "the end"],
    ["null,", 1, 5, "the end"],
    ["[1 2]", 1, 4, "',' or ']'"],
    ["[1}", 1, 3, "',' or ']'"],
    ["[1,]", 1, 4, "a value"],
    ["[,1]", 1, 2, "a value"],
    ["[1,,2]", 1, 4, "a value"],
    ["[1", 1, 3, "',' or ']'"],
    ["[[]", 1, 4, "',' or ']'"],
    ["{a: 1}", 1, 2, "a key in double quotes"],
    ["{'a': 1}", 1, 2, "a key in double quotes"],
    ["{1: 1}", 1, 2, "a key in double quotes"],
    [`{"a" 1}`, 1, 6, "':'"],
    [`{"a"}`, 1, 5, "':'"],
    [`{"a":}`, 1, 6, "a value"],
    [`{"a": 1,}`, 1, 9, "a key in double quotes"],
    [`{"a": 1 "b": 2}`, 1, 9, "',' or '}'"],
    [`{"a": 1]`, 1, 8, "',' or '}'"],
    [`{"a": {"b": []`, 1, 15, "',' or '}'"],
    [`{\n  "a": 1,\n  // why\n  "b": 2\n}`, 3, 3, "a key in double quotes"],
    [`{\r\n  "a": [\r\n    1,\r\n    undefined\r\n  ]\r\n}`, 4, 5, "a value"],
    [`{"a": True}`, 1, 7, "a value"],
    [`{"a": NaN}`, 1, 7, "a value"],
    [`{"a": +1}`, 1, 7, "a value"],
    [`{"a": .5}`, 1, 7, "a value"],
    ["[01]", 1, 3, "',' or ']'"],
    ["\uFEFF{}", 1, 1, "a value"],
    ["[1\u00a0]", 1, 3, "',' or ']'"],
    [`["ü😀", x]`, 1, 9, "a value"], // the position counts UTF-16 code units
  ];
  for (const [text, line, column, message] of cases) assertEquals(placeOf(text), { line, column, message }, text);
});

Deno.test("an error in a string, number or word is located in its line, within the broken token", () => {
  const cases: [before: string, broken: string, after: string][] = [
    ["", '"a', ""],
    ["[", '"a\n', '"]'],
    ["[", '"a\t', '"]'],
    ["[1, ", '"\\x', '41"]'],
    ["[1, ", '"\\u12', 'g4"]'],
    ["[1, ", '"\\', ""],
    ['{\n "a": 1,\n "b', "", ""],
    ["[", "-", "]"],
    ["[", "1.", "]"],
    ["[", "1e", "]"],
    ["[", "1e+", "]"],
    ["[", "tru", "]"],
    ["[", "truex", "]"],
    ["[", "nul", ""],
    ["[", "0x", "10]"],
    ["[", "--", "1]"],
    ["[1,\n2, ", "1.", "e5]"],
  ];
  for (const [before, broken, after] of cases) {
    const { line, column } = placeOf(before + broken + after);
    const lines = before.split("\n");
    const start = lines.at(-1)!.length + 1;
    assertEquals(line, lines.length, before + broken);
    assert(
      column >= (broken === "" ? 1 : start) && column <= start + broken.length,
      `column ${column} of ${before}${broken}`,
    );
  }
});

/** Returns the tokens of a random JSON text. */
function randomTokens(random: () => number, depth = 0): string[] {
  const pick = <V>(values: V[]) => values[Math.floor(random() * values.length)]!;
  const kind = depth > 4 ? "scalar" : pick(["scalar", "array", "object"]);
  if (kind === "scalar") {
    return [pick(["0", "-1.5e+3", "12E4", "true", "false", "null", '""', '"a b"', '"\\u00e9\\n\\\\\\""', '"ü{[,:"'])];
  }
  const items = Array.from({ length: Math.floor(random() * 4) }, () => {
    const value = randomTokens(random, depth + 1);
    return kind === "object" ? [pick(['"a"', '"\\t"', '""']), ":", ...value] : value;
  });
  const inner = items.flatMap((item, i) => i === 0 ? item : [",", ...item]);
  return kind === "object" ? ["{", ...inner, "}"] : ["[", ...inner, "]"];
}

Deno.test("an error at any position is located exactly, and every valid text parses", () => {
  const random = randomNumbers(11);
  const spaces = ["", "", " ", "\n", "\r\n", "\t", " \n\n  "];
  const space = () => spaces[Math.floor(random() * spaces.length)]!;
  for (let round = 0; round < 300; round++) {
    const tokens = randomTokens(random);
    const spaced = tokens.map((token) => space() + token);
    const text = spaced.join("") + space();
    const parsed = parseJson(text);
    assert("value" in parsed);
    assertEquals(parsed.value, JSON.parse(text));
    for (let i = 0; i <= tokens.length; i++) {
      const before = spaced.slice(0, i).join("") + space();
      const lines = before.split("\n");
      const place = { line: lines.length, column: lines.at(-1)!.length + 1 };
      // An invalid character.
      const strange = parseJson(before + "@" + spaced.slice(i).join(""));
      assert("error" in strange);
      assertEquals({ line: strange.error.line, column: strange.error.column }, place);
      // The same text, cut off at this token.
      if (i === tokens.length) continue;
      const cut = parseJson(before);
      assert("error" in cut);
      assertEquals({ line: cut.error.line, column: cut.error.column }, place);
    }
  }
});

Deno.test("every valid JSON text parses", () => {
  const texts = [
    ...[
      "0",
      "-0",
      "1.5",
      "1e5",
      "1E-5",
      "-12.5e+10",
      "1e999",
      "true",
      "false",
      "null",
      '""',
      "[]",
      "{}",
      " [ ] ",
      "\t{\r\n}\n",
    ],
    ...[
      '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00"',
      '"\u2028\u2029\u007f"',
      '"\\u0000"',
      '{"a":{"a":1},"b":[{"a":2},{"a":3}]}',
      "[[[[]]],{}]",
    ],
    ...['{"__proto__":1}', '{"":""}', "[1,[2,{}],null]"],
  ];
  for (const text of texts) assertEquals(parseJson(text), { value: JSON.parse(text), duplicates: [] }, text);
});

Deno.test("an error after millions of escape sequences is located like any other", () => {
  const long = String.raw`\n\"\u00e9\\`.repeat(1_500_000);
  const cases: [text: string, line: number, column: number, expected: string][] = [
    [`["${long}" 1]`, 1, long.length + 5, "',' or ']'"],
    [`{\n  "a": "${long}",\n  "${long}" 1 }`, 3, long.length + 6, "':'"],
    [`[\n"${long}\\x"]`, 2, 1, "a value"],
    [`[${String.raw`"\t",`.repeat(300_000)}]`, 1, 1_500_002, "a value"],
    [`[${"1".repeat(2_000_000)} 2]`, 1, 2_000_003, "',' or ']'"],
    [`[${" ".repeat(2_000_000)}}`, 1, 2_000_002, "a value"],
  ];
  for (const [text, line, column, message] of cases) {
    assertEquals(placeOf(text), { line, column, message }, text.slice(0, 20));
  }
});

Deno.test("a name that occurs twice in an object of JSON text is refused, with the place of the second", () => {
  const text = `{
  "limiters": {
    "api": { "type": "bucket", "rate": 1, "burst": 1 },
    "a/b": { "type": "max-of", "limiters": ["api", { "type": "bucket", "rate": 1, "rate": 2, "burst": 1 }] },
    "\\u0061pi": { "type": "bucket", "rate": 2, "burst": -1 }
  },
  "queues": { "q": { "limiter": "api" } }, "queues": { "r": { "limiter": "a/b" } }
}`;
  const twice = (name: string, line: number, column: number) =>
    `"${name}" is given twice in one object, again at line ${line}, column ${column}`;
  assertEquals(issuesOf(() => loadConfig(text)), [
    { path: "/limiters/a~1b/limiters/1/rate", message: twice("rate", 4, 83) },
    { path: "/limiters/api", message: twice("api", 5, 5) },
    { path: "/queues", message: twice("queues", 7, 44) },
    { path: "/limiters/api/burst", message: "'burst' must be a non-negative integer, got -1" },
  ]);
});

Deno.test("the same name in several objects is not a duplicate, and names special to JavaScript can be duplicates", () => {
  for (
    const text of [`{"queues":{"a":{},"b":{}},"limiters":{"a":{"type":"bucket","rate":1,"burst":1}}}`, `{"queues":{}}`]
  ) {
    loadConfig(text);
  }
  const cases: [text: string, paths: string[]][] = [
    [`{"__proto__":1,"__proto__":2}`, ["/__proto__"]],
    [`{"":1,"":2}`, ["/"]],
    [`{"a":{"a":{"b":1}},"b":[{"a":1},{"a":2,"c":{},"a":[]}]}`, ["/b/1/a"]],
    [`[[],[1,{"x":1,"x":2}]]`, ["/1/1/x"]],
    [`{"toString":1,"a":2,"toString":3,"toString":4}`, ["/toString", "/toString"]],
    [`{"a":"a","b":"a"}`, []],
  ];
  for (const [text, paths] of cases) {
    const parsed = parseJson(text);
    assert("value" in parsed);
    assertEquals(parsed.duplicates.map(({ path }) => path), paths, text);
    assertEquals(parsed.value, JSON.parse(text));
  }
});

Deno.test("of very many duplicates in a deep document, the first ones are reported", () => {
  const depth = 50_000;
  const text = `{"a":0,"a":`.repeat(depth) + "0" + "}".repeat(depth);
  const issues = issuesOf(() => loadConfig(text));
  const twice = issues.filter(({ message }) => message.includes("twice"));
  assertEquals(twice.length, 20);
  assertEquals(twice.map(({ path }) => path), Array.from({ length: 20 }, (_, i) => "/a".repeat(i + 1)));
});

Deno.test("an error in a text with a very long string is located like any other", () => {
  const text = `["${"x".repeat(20_000_000)}" 1]`;
  assertEquals(placeOf(text), { line: 1, column: text.length - 1, message: "',' or ']'" });
});
