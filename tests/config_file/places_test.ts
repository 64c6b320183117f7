/** Tests of the positions of config problems in the text, in each format. */

import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError } from "@workqueue/core";
import { type ConfigFormat, loadConfigFile, loadConfigText, readConfigFile } from "@workqueue/config-file";
import * as fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { Parser } from "yaml";
import { locate } from "../../packages/config-file/places.ts";
import { tomlTree } from "../../packages/config-file/toml_tree.ts";
import { Folder } from "./folder.ts";

function refuse(text: string, format: ConfigFormat): ConfigError {
  return assertThrows(() => loadConfigText(text, format), ConfigError);
}

/** Returns each problem in a text as `line:column pointer`, or only as the pointer if the position is unknown. */
function placesOf(text: string, format: ConfigFormat): string[] {
  return refuse(text, format).issues.map(({ path, line, column }) => `${line}:${column} ${path}`.replace(/^un.* /, ""));
}

/** Returns the syntax error in a text. */
function syntaxOf(text: string, format: ConfigFormat): [message: string, line?: number, column?: number] {
  const { issues } = refuse(text, format);
  assertEquals(issues.map(({ path }) => path), [""]);
  const { message, line, column } = issues[0]!;
  return line === undefined ? [message] : [message, line, column!];
}

/** Returns the parsed value of a YAML text. */
function readText(text: string): unknown {
  using folder = new Folder();
  return readConfigFile(folder.write("a.yaml", text));
}

const POINTERS = [
  "/limiters/a~1b/burst",
  "/limiters/a~1b/rat",
  "/limiters/all/limiters/1/type",
  "/queues/q/concurency",
  "/queues/q/maxRetries",
  "/queues/q/limiter",
];
const sorted = (places: string[]) => places.sort((a, b) => a.split(" ").at(-1)! < b.split(" ").at(-1)! ? -1 : 1);
const BROKEN: Record<ConfigFormat, { text: string; places: string[] }> = {
  json: {
    text: `{
  "limiters": {
    "a/b": { "type": "bucket", "rate": 1, "rat": 1 },
    "all": { "type": "max-of", "limiters": [
      "a/b",
      { "type": "jiter" }
    ] }
  },
  "queues": {
    "q": {
      "concurency": 4,
      "maxRetries": -1, "limiter":
        "non"
    }
  }
}`,
    places: ["3:5", "3:43", "6:9", "11:7", "12:7", "12:25"],
  },
  jsonc: {
    text: `// two lines of comment
/* of it */
{
  "limiters": {
    "a/b": { "type": "bucket", /* here */ "rate": 1, "rat": 1, },
    "all": { "type": "max-of", "limiters": [
      "a/b",
      { "type": "jiter" },
    ] },
  },
  "queues": { "q": { "concurency": 4, "maxRetries": -1, "limiter": "non" } }
}`,
    places: ["5:5", "5:54", "8:9", "11:22", "11:39", "11:57"],
  },
  yaml: {
    text: `# a comment
limiters:
  a/b:
    type: bucket
    rate: 1
    rat: 1
  all:
    type: max-of
    limiters:
      - a/b
      - type: jiter
queues:
  q: { concurency: 4, "maxRetries": -1,
    limiter: non }
`,
    places: ["3:3", "6:5", "11:9", "13:8", "13:23", "14:5"],
  },
  toml: {
    text: `[limiters."a/b"]
type = "bucket"
rate = 1 # per second
rat = 1
[limiters.all]
type = "max-of"
limiters = ["a/b", { type = "jiter" }]
[queues.q]
concurency = 4
maxRetries = -1
limiter = "non"
`,
    places: ["1:11", "4:1", "7:22", "9:1", "10:1", "11:1"],
  },
};

for (const [format, { text, places }] of Object.entries(BROKEN) as [ConfigFormat, typeof BROKEN.json][]) {
  Deno.test(`places, ${format}: a problem is located at its name, and a missing name at its parent`, () => {
    const expected = POINTERS.map((pointer, i) => `${places[i]} ${pointer}`);
    assertEquals(sorted(placesOf(text, format)), sorted(expected));
    assertEquals(placesOf(`\uFEFF${text}`, format), placesOf(text, format), "with a byte order mark");
    assertEquals(placesOf(text.replaceAll("\n", "\r\n"), format), placesOf(text, format), "with CRLF");
  });
}

Deno.test("places: the message of the error contains them", () => {
  assertEquals(
    refuse("queues:\n  q:\n    timeot: 1s\n    maxRetries: -1\n", "yaml").message,
    `Cannot load config: it has 2 problems:
  "timeot" is not an option here; did you mean "timeout"? (at /queues/q/timeot, line 3, column 5)
  'maxRetries' must be a non-negative integer, got -1 (at /queues/q/maxRetries, line 4, column 5)`,
  );
});

Deno.test("places: a problem with the whole document is located at its beginning", () => {
  for (const [text, format] of [["\n [1]", "json"], ["\n [1]", "jsonc"], ["\n - 1", "yaml"]] as const) {
    assertEquals(placesOf(text, format), ["2:2 "]);
  }
  assertEquals(placesOf("\n text", "yaml"), ["2:2 "]);
  for (const format of ["json", "jsonc", "yaml", "toml"] as const) assertEquals(placesOf("", format), ["1:1 "]);
});

Deno.test("places: a text too deep for the parser is refused with a clear message", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const texts = [
    ["yaml", `queues: ${deep}`],
    ["yaml", `queues:\n  ${"- ".repeat(100_000)}1`],
    ["yaml", `queues: ${"{ a: [ ".repeat(490)}${"] }".repeat(490)}`],
    ["json", `{ "queues": ${deep} }`],
    ["jsonc", `{ "queues": ${deep} }`],
    ["toml", `queues = ${deep}`],
  ] as const;
  for (const [format, text] of texts) {
    const [message] = syntaxOf(text, format);
    assertMatch(message, /^it is not valid [A-Z]+: it is nested too deeply at line \d, column \d+$/);
  }
});

Deno.test("places, yaml: a problem in an anchor is located there, for each use of the anchor", () => {
  const text = `queues:
  a: &common
    maxRetries: -1
  b: *common
  c:
    <<: *common
    concurrency: 0
  d: { <<: [{ timeout: 1s }, *common], maxRetries: 2 }
`;
  assertEquals(placesOf(text, "yaml"), [
    "3:5 /queues/a/maxRetries",
    "3:5 /queues/b/maxRetries",
    "7:5 /queues/c/concurrency",
    "3:5 /queues/c/maxRetries",
  ]);
});

Deno.test('yaml: a quoted "<<" is an ordinary name', () => {
  assertStringIncludes(refuse("queues: {}\n'<<': 1\n", "yaml").message, '"<<" is not a part of a config');
});

Deno.test("yaml: merge keys merge, and keys beside them take precedence", () => {
  const config = loadConfigText(
    "queues:\n  a: &a { concurrency: 4, maxRetries: 5 }\n  b: { <<: *a, maxRetries: 2 }\n",
    "yaml",
  );
  assertEquals(config.workers("b"), { concurrency: 4, maxRetries: 2 });
});

Deno.test("yaml: thousands of queues may use the same defaults", () => {
  const names = Array.from({ length: 2000 }, (_, i) => `q${i}`);
  const text = `queues:\n  a: &a { concurrency: 4 }\n${names.map((name) => `  ${name}: { <<: *a }\n`).join("")}`;
  assertEquals(loadConfigText(text, "yaml").workers("q1999"), { concurrency: 4 });
});

const TOML_FORMS: [form: string, text: string, places: string[]][] = [
  ["values", '[queues.a]\nconcurrency = "x"\n  timeout = [1]', ["2:1 /queues/a/concurrency", "3:3 /queues/a/timeout"]],
  ["dotted names", "queues.a.concurrency = 0\nqueues . b . maxRetries = -1", [
    "1:10 /queues/a/concurrency",
    "2:14 /queues/b/maxRetries",
  ]],
  ["dotted names in a table", "[queues]\na.concurrency = 0", ["2:3 /queues/a/concurrency"]],
  ["inline tables", "queues = { a = { concurrency = 0 }, b.maxRetries = -1 }", [
    "1:18 /queues/a/concurrency",
    "1:39 /queues/b/maxRetries",
  ]],
  ["inline tables on several lines", "queues = {\n  a = { concurrency = 0 },\n}", ["2:9 /queues/a/concurrency"]],
  ["quoted names", `[queues."a.b"]\n"concurrency" = 0\n[queues.'c/~\\']\n"max\\u0052etries" = -1`, [
    "2:1 /queues/a.b/concurrency",
    "4:1 /queues/c~1~0\\/maxRetries",
  ]],
  ["names that are numbers", "[queues]\n1.concurrency = 0", ["2:3 /queues/1/concurrency"]],
  ["names that every object has", "[__proto__]\n[queues.constructor]", ["1:2 /__proto__", "2:9 /queues/constructor"]],
  ["lists of tables", '[[limiters.l.limiters]]\n[[limiters.l.limiters]]\ntype = "x"\n[limiters.l]\ntype = "max-of"', [
    "1:1 /limiters/l/limiters/0/type",
    "3:1 /limiters/l/limiters/1/type",
  ]],
  ["tables in lists of tables", "[[queues]]\na = 1\n[[queues]]\n [queues.b]\n  c = 1", ["1:3 /queues"]],
  ["lists on several lines", '[limiters.l]\ntype = "max-of"\nlimiters = [\n  "m", # none\n  { type = "y" },\n]', [
    "4:3 /limiters/l/limiters/0",
    "5:5 /limiters/l/limiters/1/type",
  ]],
  ["tables that are implied before they begin", "[limiters.l.rate]\n[limiters.l]", ["2:11 /limiters/l/type"]],
  ["tables that are only implied", "[queues.a.timeout]\n[queues.a.maxRetries]", [
    "2:11 /queues/a/maxRetries",
    "1:11 /queues/a/timeout",
  ]],
  ["lines with tabs and with characters of two code units", 'queues = {\t"𝄞" = { a = 1 } }', ["1:21 /queues/𝄞/a"]],
  ["files with strings of several lines", '[queues.a]\nlimiter = """\nm\r\n[queues.b]\n"""\nconcurrency = 0', [
    "6:1 /queues/a/concurrency",
    "2:1 /queues/a/limiter",
  ]],
];

for (const [form, text, places] of TOML_FORMS) {
  Deno.test(`places, toml: problems are located in ${form}`, () => {
    assertEquals(sorted(placesOf(text, "toml")), sorted(places));
  });
}

Deno.test("places, toml: every name and list element is found, whatever the strings contain", () => {
  const names = fc.oneof(fc.constantFrom("a", "1", "a.b", "[", "__proto__"), fc.string({ unit: "grapheme" }));
  const values = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.string({ unit: "grapheme" }), fc.integer(), tie("list"), tie("table")),
    list: fc.array(tie("value"), { maxLength: 3 }),
    table: fc.dictionary(names, tie("value"), { maxKeys: 3 }),
  }));
  fc.assert(fc.property(values.table, (table) => {
    const text = stringify(table);
    const tree = tomlTree(text);
    const check = (value: unknown, pointer: string) => {
      if (typeof value !== "object" || value === null) return;
      for (const [name, member] of Object.entries(value)) {
        const path = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        const found = text.slice(locate(tree, path));
        if (!Array.isArray(value)) {
          const [source] = /^("([^"\\]|\\.)*"|[\w-]+)/.exec(found)!;
          assertEquals(Object.keys(parse(`${source} = 0`)), [name], `${path} in ${text}`);
        } else if (typeof member !== "object") {
          const [source] = /^("([^"\\]|\\.)*"|[\d-]+)/.exec(found)!;
          assertEquals(parse(`a = ${source}`)["a"], member, `${path} in ${text}`);
        }
        check(member, path);
      }
    };
    check(parse(text), "");
  }));
});

Deno.test("yaml: the parser gets consecutive lines with comments as one comment", () => {
  const { next } = Parser.prototype;
  let count = 0;
  Parser.prototype.next = function (source) {
    count++;
    return next.call(this, source);
  };
  try {
    const comments = "  # one\n\n  # two\r\n".repeat(10_000);
    const text = `${comments}queues:\n${comments}  a:\n${comments}    concurrency: 4\n${comments}`;
    assertEquals(loadConfigText(text, "yaml").workers("a"), { concurrency: 4 });
    assert(count < 100, `${count} tokens`);
    assertEquals(placesOf(text.replace("4", "0"), "yaml"), ["90003:5 /queues/a/concurrency"]);
  } finally {
    Parser.prototype.next = next;
  }
});

Deno.test("yaml: lines that only look like comments are content", () => {
  const text =
    "limiters:\n  a:\n    type: |\n      # one\n      # two\n    b: >-\n      # three\n\n      # four\n    c: 'x\n      # y\n      # z'\n";
  assertEquals(readText(text), {
    limiters: { a: { type: "# one\n# two\n", b: "# three\n# four", c: "x # y # z" } },
  });
});

Deno.test("places, toml: a name may have any number of parts", () => {
  assertEquals(placesOf(`a${".a".repeat(100_000)} = 1`, "toml"), ["1:1 /a"]);
});

const FOREIGN: [format: ConfigFormat, text: string, places: string[]][] = [
  ["toml", "[queues.a]\ntimeout = 07:32:00\nlimiter = [1979-05-27]", [
    "2:1 /queues/a/timeout: dates and times must be in quotes",
    "3:12 /queues/a/limiter/0: dates and times must be in quotes",
  ]],
  ["yaml", "queues: !!set { a }\nlimiters: { a/b: !!binary aGVsbG8= }", [
    "1:1 /queues: JSON has no such value",
    "2:13 /limiters/a~1b: JSON has no such value",
  ]],
];

for (const [format, text, problems] of FOREIGN) {
  Deno.test(`places, ${format}: values that JSON doesn't have are refused`, () => {
    const { issues } = refuse(text, format);
    assertEquals(issues.map(({ path, message, line, column }) => `${line}:${column} ${path}: ${message}`), problems);
  });
}

Deno.test("places, yaml: names that are not strings are located", () => {
  assertEquals(placesOf("queues:\n  1: { timeot: 1s }\n  true: 3\n", "yaml"), [
    "2:8 /queues/1/timeot",
    "3:3 /queues/true",
  ]);
});

/** Texts with syntax errors, and the expected messages. */
const INVALID: [format: ConfigFormat, text: string, message: string, line: number, column: number][] = [
  ["json", '{\n "queues": }', "it is not valid JSON: expected a value", 2, 12],
  ["json", "", "it is not valid JSON: expected a value", 1, 1],
  ["json", '{ // no\n "queues": {} }', "it is not valid JSON: comments are not allowed", 1, 3],
  ["json", '{ "queues": {}, }', "it is not valid JSON: expected a key in double quotes", 1, 17],
  ["json", '{ "queues": {}, "queues": {} }', 'it is not valid JSON: "queues" is given twice in one object', 1, 17],
  ["jsonc", '{\n "queues": }', "it is not valid JSONC: expected a value", 2, 12],
  ["jsonc", '{\n "queues" {},\n "a" 1 }', "it is not valid JSONC: expected a colon after the key", 2, 11],
  [
    "jsonc",
    '{\n "queues": { "a": {}, /* "a" */ "a": {} } }',
    'it is not valid JSONC: "a" is given twice in one object',
    2,
    33,
  ],
  ["yaml", "queues:\n  a: 1\n  a: 2", "it is not valid YAML: Map keys must be unique", 3, 3],
  ["yaml", "queues:\n\ta: 1", "it is not valid YAML: Tabs are not allowed as indentation", 2, 1],
  [
    "yaml",
    "queues: {}\n---\nqueues: {}",
    "it is not valid YAML: a config must contain only one document",
    2,
    1,
  ],
  ["yaml", "queues:\n  a: *b\n", "it is not valid YAML: there is no anchor &b before this alias", 2, 6],
  ["yaml", "queues: &q\n  <<: *q\n", "it is not valid YAML: this alias stands within its own anchor &q", 2, 7],
  ["yaml", "queues:\n  a: !ref b\n", "it is not valid YAML: Unresolved tag: !ref", 2, 6],
  ["toml", "a = 1\na = 2", "it is not valid TOML: trying to redefine an already defined table or value", 2, 1],
];

for (const [format, text, message, line, column] of INVALID) {
  Deno.test(`places, ${format}: ${JSON.stringify(text)} is refused with the position of the error, in words and as numbers`, () => {
    assertEquals(syntaxOf(text, format), [`${message} at line ${line}, column ${column}`, line, column]);
    assert(refuse(text, format).message.endsWith(`${message} at line ${line}, column ${column}`));
  });
}

Deno.test("places, yaml: every syntax error is reported", () => {
  assertEquals(placesOf("queues: {}\nqueues: {}\nlimiters: *a\nlimiters: *b\n", "yaml"), [
    "2:1 ",
    "4:1 ",
    "3:11 ",
    "4:11 ",
  ]);
});

Deno.test("places, yaml: aliases that would fill the memory, and merges of other values, are refused at their places", () => {
  const bomb = [
    "a0: &a0 [x, x]",
    ...Array.from({ length: 14 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`),
  ];
  assertEquals(syntaxOf(bomb.join("\n"), "yaml"), [
    "it is not valid YAML: here, aliases have been used more than 10,000 times at line 13, column 12",
    13,
    12,
  ]);
  const merge = "it is not valid YAML: '<<' must be an object, an alias of an object, or a list of these";
  for (const value of ["3", "*n", "[*o, 3]", "[*o, *n]"]) {
    assertEquals(syntaxOf(`n: &n 1\no: &o {}\nqueues: { <<: ${value} }`, "yaml"), [
      `${merge} at line 3, column 11`,
      3,
      11,
    ]);
  }
});

Deno.test("places, jsonc: each syntax error is described in words", () => {
  const texts = [
    "{",
    "[",
    "{ a: 1 }",
    "[1 2]",
    "[a]",
    "[-]",
    "{} {}",
    "/* ",
    '["a',
    '["\\u12"]',
    '["\\q"]',
    '["a\tb"]',
    "[1.]",
  ];
  for (const text of texts) {
    const [message] = syntaxOf(text, "jsonc");
    assertMatch(String(message), /^it is not valid JSONC: [a-z\\][a-z0-9 ,;\\]+ at line 1, column \d+$/, text);
  }
});

Deno.test("yaml: a config may have thousands of aliases", () => {
  const names = Array.from({ length: 9_000 }, () => `  - *a\n`);
  assertThrows(() => loadConfigText(`a: &a 1\nb:\n${names.join("")}`, "yaml"), ConfigError, '"a"');
});

Deno.test("places: a file has the same places as a text, whether it is loaded or only read", () => {
  using folder = new Folder();
  const path = folder.write("a.yaml", "queues:\n  q: { timeot: 1s }\n");
  const { issues } = assertThrows(() => loadConfigFile(path), ConfigError);
  assertEquals(issues, refuse("queues:\n  q: { timeot: 1s }\n", "yaml").issues);
  folder.write("a.yaml", "a: 1\na: 2\n");
  assertEquals(assertThrows(() => readConfigFile(path), ConfigError).issues, refuse("a: 1\na: 2\n", "yaml").issues);
});

Deno.test("config text: a wrong text, a wrong format and an unknown option are refused", () => {
  assertThrows(() => loadConfigText(7 as never, "json"), Error, "'text' must be a string, got 7");
  assertThrows(
    () => loadConfigText("{}", "ini" as never),
    TypeError,
    `Cannot load config: 'format' must be one of json, jsonc, yaml, toml, got "ini"`,
  );
  assertThrows(() => loadConfigText("{}", "json", { clok: 1 } as never), TypeError, `"clok" is not an option here`);
});
