/**
 * Tests of the schema paths that configs and loads in examples and on pages contain. An editor must find the schema at
 * each path.
 */

import { assert, assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { globSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import { getLanguageService, TextDocument } from "vscode-json-languageservice";
import { parse as parseYaml } from "yaml";
import { guide } from "../../docs/site/repository.ts";
import { tokensOf } from "./markdown.ts";

const ROOT = new URL("../../", import.meta.url);

/** Schema of a kind of document, and a document with a typo that an editor must mark. */
interface Kind {
  schema: URL;
  typo: object;
  marked: string;
}

const CONFIG: Kind = {
  schema: new URL("schema/workqueue.schema.json", ROOT),
  typo: { queues: { a: { concurency: 4 } } },
  marked: '"concurency"',
};

const LOAD: Kind = {
  schema: new URL("schema/load.schema.json", ROOT),
  typo: { arivals: [] },
  marked: '"arivals"',
};

/** Paths of the load documents. All other documents are configs. */
const LOADS = ["examples/outage.yaml"];

/** For each format, a pattern that matches the line in which a config refers to its schema. */
const MARKS = {
  json: /"\$schema": "([^"]*)"/g,
  yaml: /^# yaml-language-server: \$schema=(.*)$/gm,
  toml: /^#:schema (.*)$/gm,
};

type Config = Record<string, unknown>;

/** Location of a config: a file, or a code block on a page. */
interface Place {
  path: string;
  text: string;
  format: keyof typeof MARKS;
}

/** Config that refers to a schema. */
interface Reference extends Place {
  named: string;
}

/** Names of files in `examples/` that are not configs. */
const OTHERS = ["package.json", "deploy.yaml"];

function examples(): Place[] {
  const paths = globSync("examples/**/*.{json,yaml,toml}", { cwd: ROOT })
    .filter((path) => !OTHERS.some((name) => path.endsWith(`/${name}`))).sort();
  return paths.map((path) => ({
    path: path.replaceAll("\\", "/"),
    text: Deno.readTextFileSync(new URL(path, ROOT)),
    format: path.slice(path.lastIndexOf(".") + 1) as keyof typeof MARKS,
  }));
}

/**
 * Returns the code blocks on all pages. Each block is returned once per format, because a text block may contain lines
 * in several formats.
 */
function blocks(): Place[] {
  const others = ["*.md", "packages/*/README.md"].flatMap((glob) => globSync(glob, { cwd: ROOT }));
  const pages = [...others, ...guide].sort();
  return pages.flatMap((path) =>
    tokensOf(Deno.readTextFileSync(new URL(path, ROOT)))
      .filter((token): token is Tokens.Code =>
        token.type === "code" && /^(json|yaml|toml|text)$/.test(token.lang ?? "")
      )
      .flatMap(({ text }) =>
        (Object.keys(MARKS) as (keyof typeof MARKS)[]).map((format) => ({
          path: path.replaceAll("\\", "/"),
          text,
          format,
        }))
      )
  );
}

const references: Reference[] = [...examples(), ...blocks()].flatMap((place) =>
  [...place.text.matchAll(MARKS[place.format])].map(([, named]) => ({ ...place, named: named! }))
);

const service = getLanguageService({
  workspaceContext: { resolveRelativePath: (path, from) => new URL(path, from).href },
  schemaRequestService: (url) => Deno.readTextFile(new URL(url)),
});

const PARSERS: Record<keyof typeof MARKS, (text: string) => Config> = {
  json: (text) => JSON.parse(text),
  yaml: (text) => parseYaml(text),
  toml: (text) => parseToml(text),
};

/** Returns the parts of a config that an editor would mark as invalid. */
async function problemsOf(
  { path, format, text, named }: Reference,
  change = (_config: Config) => {},
): Promise<string[]> {
  const isConfig = path.startsWith("examples/") || format === "json"; // other blocks may not be full configs
  const config: Config = isConfig ? PARSERS[format](text) : {};
  change(config);
  const json = JSON.stringify({ ...config, $schema: named });
  const document = TextDocument.create(new URL(path, ROOT).href, "json", 1, json);
  const problems = await service.doValidation(document, service.parseJSONDocument(document));
  return problems.map(({ range }) => document.getText(range));
}

Deno.test("schema: the list of configs in examples and pages that name a schema is complete", () => {
  const found = references.map(({ path, format }) => `${path}, ${format}`);
  assertEquals(found, [
    "examples/live_limits.yaml, yaml",
    "examples/outage.yaml, yaml",
    "examples/webhooks/service.json, json",
    "examples/workqueue.json, json",
    "examples/workqueue.toml, toml",
    "examples/workqueue.yaml, yaml",
    "README.md, json",
    "docs/config.md, json",
    "docs/config/check.md, yaml",
    "docs/config/check.md, toml",
  ]);
});

Deno.test("schema: each example names it, except those with types of a plugin, and one that readers copy elsewhere", () => {
  const named = references.map(({ path }) => path);
  const others = examples().map(({ path }) => path).filter((path) => !named.includes(path));
  assertEquals(others, ["examples/fibonacci.json", "examples/linear.yaml", "examples/operate/service.json"]);
});

for (const reference of references) {
  const { path, format, named } = reference;
  const { schema, typo, marked: mistake } = LOADS.includes(path) ? LOAD : CONFIG;

  Deno.test(`schema: an editor finds the schema of ${path} (${format}) in a clone, and marks a typo`, async () => {
    assert(!/^[a-z]+:|^\//i.test(named), `${named} is not relative`);
    assertEquals(new URL(named, new URL(path, ROOT)).href, schema.href);
    Deno.statSync(schema);

    assertEquals(await problemsOf(reference), []);
    const marked = await problemsOf(reference, (document) => Object.assign(document, typo));
    assertEquals(marked, [mistake]);
  });
}
