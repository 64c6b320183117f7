/** Tests of config files in every format: loading them, and messages about invalid files. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigError, limiters, loadConfig } from "@workqueue/core";
import { loadConfigFile, readConfigFile } from "@workqueue/config-file";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { codeOf } from "../helpers.ts";
import { Folder } from "./folder.ts";

const FILES: Record<string, string> = {
  "a.json": `{ "queues": { "images": { "concurrency": 4, "timeout": "30s" } } }`,
  "a.jsonc": `{ /* how many at once */ "queues": { "images": { "concurrency": 4, "timeout": "30s", }, }, }`,
  "a.yaml": "queues:\n  images: { concurrency: 4, timeout: 30s }\n",
  "A.YML": "queues:\n  images: { concurrency: 4, timeout: 30s }\n",
  "a.toml": `[queues.images]\nconcurrency = 4\ntimeout = "30s"\n`,
};

for (const [name, text] of Object.entries(FILES)) {
  Deno.test(`config file: ${name} is loaded from a path and from a URL, with and without a byte order mark`, () => {
    using folder = new Folder();
    const path = folder.write(name, text);
    const marked = folder.write(`marked ü #1 ${name}`, `\uFEFF${text}`);
    for (const file of [path, pathToFileURL(path), marked, pathToFileURL(marked)]) {
      const config = loadConfigFile(file);
      assertEquals(config.queueNames, ["images"]);
      assertEquals(config.workers("images"), { concurrency: 4, timeout: 30_000 });
      assertEquals(loadConfig(readConfigFile(file)).workers("images"), config.workers("images"));
    }
  });
}

Deno.test("config file: a relative path starts at the working directory", () => {
  const path = "examples/workqueue.yaml";
  assertEquals(readFileSync(path, "utf8").length > 0, true, "the tests run in the repository");
  assertEquals(loadConfigFile(path).queueNames, ["demo", "downloads"]);
});

Deno.test("config file: the options are those of loadConfig, and are checked as strictly", () => {
  using folder = new Folder();
  const path = folder.write("a.yaml", "limiters: { slow: { type: exponential, baseDelay: 1s, maxDelay: 1m } }");
  const registry = limiters.extend();
  registry.unregister("exponential");
  assertThrows(() => loadConfigFile(path, { limiters: registry }), ConfigError, "exponential");
  assertThrows(
    () => loadConfigFile(path, { limitres: registry } as never),
    TypeError,
    `Cannot load config: "limitres" is not an option here; did you mean "limiters"?`,
  );
});

/** Invalid files, and the expected messages without the word "Cannot". */
const WRONG: [name: string, text: string, message: string][] = [
  ["a.json", '{ "queues": }', "read config 'FILE': it is not valid JSON: expected a value at line 1, column 13"],
  [
    "a.json",
    '{ "queues": 1 }',
    "load config 'FILE': 'queues' must be an object, got 1 (at /queues, line 1, column 3)",
  ],
  [
    "a.jsonc",
    '{\n  "a": /* none */\n}',
    "read config 'FILE': it is not valid JSONC: expected a value at line 3, column 1",
  ],
  ["a.yaml", "a: 1\na: 2", "read config 'FILE': it is not valid YAML: Map keys must be unique at line 2, column 1"],
  ["a.yaml", "text", "load config 'FILE': it must be an object, got a text"],
  ["a.yaml", "", "load config 'FILE': it is empty"],
  ["a.yaml", "42", "load config 'FILE': it must be an object, got 42"],
  ["a.yaml", "true", "load config 'FILE': it must be an object, got true"],
  ["a.jsonc", "42", "load config 'FILE': it must be an object, got 42"],
  ["a.jsonc", "null", "load config 'FILE': it must be an object, got null"],
  ["a.toml", "a = [1,\n}", "read config 'FILE': it is not valid TOML: invalid value at line 2, column 1"],
  ["a.ini", "", "read config 'FILE': its extension is none of .json, .jsonc, .yaml, .yml, .toml"],
  ["json", "{}", "read config 'FILE': its extension is none of .json, .jsonc, .yaml, .yml, .toml"],
];

for (const [name, text, message] of WRONG) {
  Deno.test(`config file: ${name} with ${JSON.stringify(text)} is refused in a sentence that names it`, () => {
    using folder = new Folder();
    const path = folder.write(name, text);
    const error = assertThrows(() => loadConfigFile(path), Error);
    assertEquals(error.message, `Cannot ${message.replace("FILE", path)}`);
    if (!name.endsWith(".json")) assertEquals(assertThrows(() => readConfigFile(path), Error).message, error.message);
    assertEquals(error instanceof ConfigError, !message.includes("extension"));
    assertEquals(codeOf(error), "WQ_CONFIG");
  });
}

Deno.test("config file: every problem of a document is reported with its place", () => {
  using folder = new Folder();
  const path = folder.write("a.toml", "[queues.images]\nmaxRetries = -1\nconcurency = 4\n");
  const { issues, message } = assertThrows(() => loadConfigFile(path), ConfigError);
  assert(message.startsWith(`Cannot load config '${path}': it has 2 problems:\n`), message);
  assertEquals(issues.map(({ path, line, column }) => `${line}:${column} ${path}`).sort(), [
    "2:1 /queues/images/maxRetries",
    "3:1 /queues/images/concurency",
  ]);
});

Deno.test("config file: an unreadable file is reported with its name, the reason and the system's error", () => {
  using folder = new Folder();
  mkdirSync(folder.at("folder.json"));
  folder.write("file", "");
  const reasons: [name: string, code: string, reason: string][] = [
    ["none.json", "ENOENT", "there is no such file"],
    ["folder.json", "EISDIR", "it is a directory"],
    ["file/a.json", "ENOTDIR", "part of its path is not a directory"],
  ];
  for (const [name, code, reason] of reasons) {
    const path = folder.at(name);
    const error = assertThrows(() => loadConfigFile(path), Error, `Cannot read config '${path}': ${reason}`);
    assertEquals([codeOf(error), codeOf(error.cause)], ["WQ_CONFIG", code]);
  }
});

Deno.test({
  name: "config file: a file without read permission is reported with its name and that reason",
  ignore: process.getuid?.() === 0 || process.platform === "win32", // root can read every file
  fn() {
    using folder = new Folder();
    const path = folder.write("a.json", "{}");
    chmodSync(path, 0);
    assertThrows(() => loadConfigFile(path), Error, `Cannot read config '${path}': permission denied`);
  },
});

Deno.test("config file: a file that is not UTF-8 is refused, because a damaged name may be the name of another queue", () => {
  using folder = new Folder();
  const path = folder.write(
    "latin1.yaml",
    Uint8Array.from("queues: { m\xfcller: {} }", (letter) => letter.charCodeAt(0)),
  );
  assertThrows(() => loadConfigFile(path), Error, `Cannot read config '${path}': it is not UTF-8`);
});

Deno.test("config file: a value that is neither a path nor a file: URL is refused", () => {
  const rule = "Cannot read config: 'path' must be a path or a file: URL, got";
  assertThrows(() => loadConfigFile(""), TypeError, `${rule} ""`);
  assertThrows(() => loadConfigFile(7 as never), RangeError, `${rule} 7`);
  assertThrows(() => loadConfigFile(undefined as never), TypeError, `${rule} undefined`);
  assertThrows(() => readConfigFile(new URL("https://example.com/a.json")), TypeError, `${rule} "https://example.com`);
});

Deno.test("config file: an emptied file is refused in every format", () => {
  using folder = new Folder();
  const contents: [format: string, texts: string[], message: string][] = [
    ["json", [""], "it is not valid JSON"],
    ["jsonc", ["", "// nothing"], "it is not valid JSONC"],
    ["yaml", ["", "# nothing", "---\n"], "it is empty"],
    ["toml", ["", "# nothing"], "it is empty"],
  ];
  for (const [format, texts, message] of contents) {
    for (const text of texts) {
      for (const spaces of ["", " \n\n"]) {
        const path = folder.write(`empty.${format}`, text + spaces);
        assertThrows(() => loadConfigFile(path), ConfigError, message);
      }
    }
  }
  for (const [format, text] of [["json", "{}"], ["yaml", "{}"], ["toml", "[queues]"]] as const) {
    assertEquals(loadConfigFile(folder.write(`none.${format}`, text)).queueNames, []);
  }
});
