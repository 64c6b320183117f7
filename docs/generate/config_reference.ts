import { readFileSync } from "node:fs";
import { disciplines, type Field, type Fields, limiters, throttles } from "@workqueue/core";
import { queueOptions } from "@workqueue/core/config";
import { MAX_RATE, MAX_WEIGHT, MIN_RATE, MIN_WEIGHT } from "../../registry/option_kinds.ts";
import { MAX_COUNT, MAX_DEPTH } from "../../registry/reader.ts";
import { type BuiltIn, builtInDisciplines, builtIns, builtInThrottles } from "./built_ins.ts";

/** Kinds of parts that can be the value of an option. */
type Words = "limiter" | "discipline" | "throttle";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Path of the schema, relative to a config in a subfolder of a clone. */
const SCHEMA_PATH = "../schema/workqueue.schema.json";

/** Returns the URL at which the schema of this version is published. */
export function schemaUrl(): string {
  const { name, version } = JSON.parse(read("deno.json")) as { name: string; version: string };
  return `https://jsr.io/${name}/${version}/schema/workqueue.schema.json`;
}

/** Note on how to access the limiter of one group. */
const OF_GROUPS =
  `In code, cast the limiter: \`config.limiter("tenants") as PerGroupLimiter<string, BucketLimiter<string>>\`. Its \`of(key)\`
returns the limiter of the key's group, so \`.of("acme/1").bucket.pauseFor("30s")\` pauses one tenant. A queue on Redis
runs its limiters on the server and does not use that object.`;

/** Returns the page as Markdown. */
export function configReference(): string {
  const example = read("examples/workqueue.json");
  return `# Config reference

A config document defines limiters, throttles and queues. All sections are optional:

${code("json", example)}

\`loadConfig\` takes the document as JSON text or as an object. \`loadConfig\` rejects a document that has any mistake, and
reports every mistake with its path (\`ConfigError.issues\`). The name of a queue or a limiter may be any text except
\`""\`, \`"__proto__"\`, \`"constructor"\` and \`"prototype"\`. A text is rejected
if an object in it contains the same name twice.

${
    code(
      "ts",
      `import { loadConfig } from "@workqueue/core";

const config = loadConfig(\`{ "queues": { "images": { "concurrency": 4, "maxRetries": 5 } } }\`);
const queue = config.queue<string>("images");
config.runWorkers("images", queue, (item) => console.log(item));
queue.add("logo.png");
await queue.shutDownWithDrain();`,
    )
  }

- \`config.queue(name, options)\` creates a new queue at each call. Its \`options\` override the document's, also
  after a reload. Most are options that a document can't contain: \`keyOf\`, \`onDrop\`, \`priorityLevels\`, \`ref\`, and a \`clock\` or \`metrics\` to replace those passed to \`loadConfig\`.
- \`config.runWorkers(name, queue, handler, options)\` starts a pool. Its \`options\` are callbacks such as \`onError\`.
- \`config.limiter(name)\`, \`config.throttle(name)\` and \`config.bucket(name)\` return a part of the document:
  \`config.bucket("api").pauseFor("30s")\` pauses all queues that this bucket throttles, and
  \`config.throttle("api").snapshot()\` shows why no attempt starts.
- \`config.queueNames\` lists the names of the queues. The type of \`config\` is \`WorkQueueConfig\`.
- \`config.describe(name)\` and \`limiters.describe(config)\` return a queue or a limiter as plain data, for example for a
  page that shows the queue or the limiter.

## Config files

\`@workqueue/config-file\` loads JSON, JSONC, YAML and TOML, and reloads the file when it changes.
The folder [examples](../examples) has the same config in three formats.

${
    code(
      "ts",
      `import { loadConfigFile, watchConfigFile } from "@workqueue/config-file";

const config = loadConfigFile("examples/workqueue.yaml");
const queue = config.queue<string>("demo");
config.runWorkers("demo", queue, (item) => console.log(item));

const watch = watchConfigFile("examples/workqueue.yaml", config, {
  // For example: { path: "/queues/demo/concurrency", old: 4, new: 8, inForce: "now" }
  onReload: (changes) => console.log(changes),
});
queue.add("logo.png");
await queue.shutDownWithDrain();
watch[Symbol.dispose](); // a long-running service never needs to dispose the watch`,
    )
  }

To see a reload, run this program in a clone and edit \`examples/live_limits.yaml\` while it runs:

${code("sh", "npx -y deno run -A examples/live_limits.ts")}

## Help from an editor

\`$schema\` tells editors where the JSON Schema is. Editors then complete and explain types and options, and mark
mistakes. Instead of \`$schema\`, write the first of these comments in YAML, and the second in TOML:

${code("text", `# yaml-language-server: $schema=${SCHEMA_PATH}\n#:schema ${SCHEMA_PATH}`)}

The path in the comment is relative to the config. This path works in a subfolder of a clone, such as \`examples/\`.
Elsewhere, write the path to \`schema/workqueue.schema.json\` in the clone, or run
\`workqueue schema > workqueue.schema.json\` and write \`./workqueue.schema.json\`. Once the package is published, the
schema of this version is also at
\`${schemaUrl()}\`.

\`loadConfig\` ignores the value of \`$schema\` if it is a string. \`loadConfig\` also checks rules that a schema can't
express: each name that is referred to exists, names don't refer to each other in a circle, \`maxDelay\` is not less than
\`baseDelay\`, and durations such as \`"5s"\` are within their limits. A limiter may contain up to ${MAX_COUNT} limiters, nested up
to ${MAX_DEPTH} deep.

## Durations

A duration is a string of numbers and units, such as \`"250ms"\`, \`"2.5s"\` or \`"1h30m"\`, or a number of milliseconds. The
units are \`h\`, \`m\`, \`s\`, \`ms\`, \`us\` (or \`µs\`) and \`ns\`. \`"0"\` needs no unit.

## Limiters by name

Write a limiter as an object with its \`type\` and options, or as the name of another limiter in the document. A named
limiter is shared: if several queues refer to the same bucket, all their retries together keep to its rate. Failures are
counted for each queue separately, except by limiters of your own types, which count as you write them.

The \`limiter\` of a \`per-group\` limiter must be an object, because each group gets its own copy. Names are
allowed inside that object: all groups share a limiter that is referred to by name.

## Queues

${optionsTable(queueOptions)}

## Changing limits while it runs

\`config.reload(document)\` applies another document and returns the changes. \`reload\` changes everything at once, or
nothing if the document has a mistake. Pools started by \`config.runWorkers\` follow the new document, except for options
that you passed in code.

${
    code(
      "ts",
      `import { loadConfig } from "@workqueue/core";
import { assertEquals } from "@std/assert";

const document = (rate: number) => ({ queues: { images: { concurrency: 50, throttle: { rate, burst: 1 } } } });
const config = loadConfig(document(1000));
const queue = config.queue<string>("images");
config.runWorkers("images", queue, (image) => console.log(image));

const changes = config.reload(document(20));
assertEquals(changes, [{ path: "/queues/images/throttle/rate", old: 1000, new: 20, inForce: "now" }]);
queue.shutDown();`,
    )
  }

**To slow a running queue, change its \`throttle\`.** Every attempt needs a token, so a new rate takes effect at once. A
limiter sets a delay when an item fails, and that delay stays. For example, if 4,820 items are delayed after an outage,
a lower rate of the limiter affects only later failures, and a higher rate doesn't make these items ready any sooner.

${reloadTable()}

Counts survive a reload:

- The failures that a queue has counted stay, whatever its next limiter is.
- A bucket keeps its tokens, and a limiter the counts of calls by hand, if the new document has the same type at the same
  place. The place of a limiter in a list is its index.
- A limiter of another type starts afresh. A limiter of your own whose options change also starts afresh, unless its
  definition has [\`update\`](extend.md#survive-a-reload).
- The limiters of a \`per-group\` limiter follow its new \`limiter\` by the same rules. If the \`separator\` of a \`per-group\`
  limiter changes, a group whose name stays the same keeps its counts, and other groups start afresh.
- Values set in code, such as \`config.bucket("api").setRate(5)\` or \`pool.concurrency = 2\`, stay until the document
  changes the same setting.

Each change that \`reload\` returns says whether it is in force \`"now"\` or at the \`"nextStart"\`, and whether something
\`startsAfresh\`.

## Types of limiters

[Choosing a limiter](limiters.md) helps you choose. The picture shows the delays of an item that fails again as soon as
it is retried.

![Delays after the first 20 failures of an item, for each example below](delays.svg)

${table(["type", "delay", "choose it when"], builtIns.map((each) => partRow(each)))}

${
    builtIns
      .map(({ example }) => {
        const section = partSection(limiters.get(example.type)!, { limiters: { example } });
        return example.type === "per-group" ? `${section}\n\n${OF_GROUPS}` : section;
      })
      .join("\n\n")
  }

## Types of disciplines

[Choosing a discipline](ordering.md) helps you choose. Each queue has its own discipline, so disciplines have no names.
Without a discipline, a queue is first in, first out.

${table(["type", "order", "choose it when"], builtInDisciplines.map((each) => partRow(each)))}

${
    builtInDisciplines
      .map(({ example }) =>
        partSection(disciplines.get(example.type)!, { queues: { example: { discipline: example } } })
      )
      .join("\n\n")
  }

## Types of throttles

[Choosing a throttle](throttles.md) helps you choose. A throttle without a \`type\` is a \`bucket\`. Throttles in the
section \`throttles\` have names, and all queues that refer to a name share its throttle. A limiter of type \`bucket\` is a
throttle too, under its name.

${table(["type", "effect", "choose it when"], builtInThrottles.map((each) => partRow(each, " throttle")))}

${
    builtInThrottles
      .map(({ example }) => partSection(throttles.get(example.type)!, { throttles: { example } }, " throttle"))
      .join("\n\n")
  }

## Types of your own

A config can use your own types of limiters, throttles and disciplines, and editors can complete them: see [extend](extend.md).

---

\`npx -y deno task generate\` writes this page from the definitions in the code.
`;
}

/** Returns the row of a type in a table. `suffix` follows the type in the title of its section. */
function partRow({ example: { type }, effect, choice }: BuiltIn<{ type: string }>, suffix = ""): string[] {
  return [`[\`${type}\`](#${(type + suffix).replace(" ", "-")})`, effect, choice];
}

/**
 * Returns the page's section about a type of limiter, throttle or discipline. `document` is an example config that uses
 * it.
 */
function partSection(
  { type, description, options }: { type: string; description: string; options: Fields<Words> },
  document: Record<string, Record<string, unknown>>,
  suffix = "",
): string {
  return [`### ${type}${suffix}`, description, code("json", shortDocument(document)), optionsTable(options)].join(
    "\n\n",
  );
}

/** Formats a config document, with a line for each limiter, discipline and queue. */
function shortDocument(document: Record<string, Record<string, unknown>>): string {
  const sections = Object.entries(document).map(([section, parts]) => {
    const lines = Object.entries(parts).map(([name, part]) => `    "${name}": ${onOneLine(part)}`);
    return `  "${section}": {\n${lines.join(",\n")}\n  }`;
  });
  return `{\n${sections.join(",\n")}\n}`;
}

function onOneLine(value: unknown): string {
  return JSON.stringify(value, undefined, 1).replace(/\n */g, " ");
}

function code(language: string, text: string): string {
  return "```" + language + "\n" + text.trimEnd() + "\n```";
}

function optionsTable(fields: Fields<Words>): string {
  const rows = Object.entries(fields).map(([option, field]) => [
    `\`${option}\``,
    valueOf(field),
    isRequired(field),
    field.description,
  ]);
  return table(["option", "value", "required", "description"], rows);
}

function reloadTable(): string {
  const rows = Object.entries(queueOptions).map(([option, { inForce, onReload }]) => [
    `\`${option}\``,
    inForce === "now" ? "now" : "next start",
    onReload,
  ]);
  const gone =
    "Its name is unknown until a document defines it again. Until then, running queues and pools keep its last settings. After that, they follow the new definition.";
  return table(["what changes", "in force", "effect"], [...rows, [
    "a queue or limiter is removed",
    "now",
    gone,
  ]]);
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Describes the values that an option accepts. */
function valueOf(field: Field<Words>): string {
  switch (field.kind) {
    case "duration":
      return "duration" + bounds(field.min, field.max, " ms") + (field.infinite ? ', or `"unlimited"`' : "");
    case "integer":
      return field.kind + bounds(field.min, field.max);
    case "number":
      return field.kind + bounds(field.min, field.max) + (field.infinite ? ", or infinite" : "");
    case "boolean":
      return "`true` or `false`";
    case "string":
      return field.minLength === 1 && field.maxLength === undefined
        ? "non-empty string"
        : "string" + bounds(field.minLength, field.maxLength, " characters");
    case "enum":
      return field.values.map((value) => `\`"${value}"\``).join(", ");
    case "weights":
      return `object of numbers by name${bounds(MIN_WEIGHT, MAX_WEIGHT)}`;
    case "durations":
      return "list of durations" + atLeast(field.minItems) + bounds(field.min, field.max, " ms each");
    case "rate":
      return `\`{ rate, burst }\`: number${bounds(MIN_RATE, MAX_RATE)}, integer${bounds(1, MAX_RATE)}`;
    case "retryBudget":
      return "`{ ratio, minRate }`: two numbers, each at least 0";
    case "retention":
      return "integer, at least 1, or `{ max, maxAge }`: such an integer, and a duration, at least 1 ms (optional)";
    case "limiter":
      return field.template ? "limiter, not a name" : "limiter, or a name";
    case "limiters":
      return "list of limiters or names" + atLeast(field.minItems);
    case "throttle":
      return "throttle, or a name";
    case "throttles":
      return "list of throttles or names" + atLeast(field.minItems);
    case "discipline":
      return "discipline";
    case "disciplines":
      return "list of disciplines" + atLeast(field.minItems);
  }
}

function atLeast(minItems: number | undefined): string {
  return bounds(minItems, undefined, minItems === 1 ? " item" : " items");
}

function bounds(min: number | undefined, max: number | undefined, unit = ""): string {
  const least = min === undefined ? "" : `, at least ${min}${unit}`;
  const most = max === undefined ? "" : `, at most ${max}${unit}`;
  return least + most;
}

function isRequired(field: Field<Words>): string {
  if ("default" in field) return `no: default \`${JSON.stringify(field.default)}\``;
  return field.required === false ? "no" : "yes";
}
