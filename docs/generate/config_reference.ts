import { readFileSync } from "node:fs";
import { disciplines, type Field, type Fields, limiters, queueOptions } from "@workqueue/core";
import { MAX_WEIGHT, MIN_WEIGHT } from "../../registry/plain_values.ts";
import { MAX_COUNT, MAX_DEPTH } from "../../registry/reader.ts";
import { type BuiltIn, builtInDisciplines, builtIns } from "./built_ins.ts";

/** What parts are called that an option may be. */
type Words = "limiter" | "discipline" | "bucket";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Where the schema of this version is published. */
export function schemaUrl(): string {
  const { name, version } = JSON.parse(read("deno.json")) as { name: string; version: string };
  return `https://jsr.io/${name}/${version}/schema/workqueue.schema.json`;
}

/** The page, as Markdown. */
export function configReference(): string {
  const example = read("examples/workqueue.json").replace("../schema/workqueue.schema.json", schemaUrl());
  return `# Config reference

Written by \`deno task generate\` from the definitions of the limiters and queues.

A config is an object with \`limiters\` and \`queues\`, each by name, and both optional. \`loadConfig\` takes it as JSON
text, or as what a parser of YAML, TOML or anything else made of a file. \`@workqueue/config-file\` reads such files, and
watches them; [examples](../examples) has the same config in all three.

${code("json", example)}

An object of JSON text that gives a name twice is refused, as YAML and TOML refuse it. A name is any text but \`""\`, \`"__proto__"\`, \`"constructor"\` and \`"prototype"\`.

## Help from an editor

\`$schema\` says where the JSON Schema is. Editors that know JSON Schema complete types and options, explain them, and
mark mistakes; \`loadConfig\` only checks that it is a text. In YAML, editors look for a comment instead, the first of
these; in TOML, for the second:

${code("text", `# yaml-language-server: $schema=${schemaUrl()}\n#:schema ${schemaUrl()}`)}

What a schema cannot say is checked on loading: whether a name stands for a limiter, that names lead to no circle, that
\`maxDelay\` is not less than \`baseDelay\`, the bounds of durations that are texts, and how many limiters there are in
one: up to ${MAX_COUNT} in all, nested in up to ${MAX_DEPTH} others.

## Durations

A duration is a text of numbers and units, as in \`"250ms"\`, \`"2.5s"\` and \`"1h30m"\`, or a number of milliseconds. The
units are \`h\`, \`m\`, \`s\`, \`ms\`, \`us\` (or \`µs\`) and \`ns\`. \`"0"\` needs none.

## Limiters by name

Where a limiter is expected there is either its config, with its \`type\` and its options, or the name of another limiter
of the document. All that name one share it: queues that name the same bucket keep to its rate together.

## Queues

${optionsTable(queueOptions)}

## Changing limits while it runs

\`config.reload(source)\` puts another document in force: at once and whole for everything that runs, or not at all, if
anything in it is wrong. \`@workqueue/config-file\` does so whenever a file changes. Pools that are to follow are run by
\`config.runWorkers("images", queue, handler)\`, which takes what a document cannot say after the handler; what is given
there stays.

${
    code(
      "ts",
      `import { loadConfig } from "@workqueue/core";

const document = (rate: number) => ({ queues: { images: { concurrency: 50, starts: { rate, burst: 1 } } } });
const config = loadConfig(document(1000));
const queue = config.queue<string>("images");
config.runWorkers("images", queue, (image) => console.log(image));

config.reload(document(20)); // [{ path: "/queues/images/starts/rate", old: 1000, new: 20, inForce: "now" }]
queue.shutDown();`,
    )
  }

**The throttle that works now is \`starts\`.** No attempt begins without one of its tokens, be it the first one of an item or
a retry, and a changed rate is felt at once by all who wait for one. A limiter cannot do that: it gives a delay when an item
fails, and that delay stands. When 4,820 items wait after an outage, a lower rate of their limiter slows the next failures
and none of these items, and a higher rate frees none of them.

| what changes | what it does | what it does not |
| --- | --- | --- |
| \`starts\`: \`rate\`, \`burst\`, another bucket, none | how often attempts begin, from now on | it ends nothing that runs |
| \`concurrency\` | more begin at once, or fewer as those that run end | it ends nothing that runs |
| \`timeout\` | how long the attempts may take that begin | those that run keep theirs |
| \`maxRetries\` | which failures give an item up, from the next one on | what was given up stays so |
| options of a limiter, or which one a queue has | the delays of the failures that come | delays that were given stand |
| \`discipline\`, \`maxWait\`, \`whileWaiting\` | queues that are made from now on | queues that were made stay as they are |
| a queue or a limiter that is gone | it is unknown by its name, until it is back; pools that run follow it again from then on | who holds it goes on with what it had |

A limiter or bucket goes on with what it has counted (failures, tokens that are there or owed) if one of the same type stood
at the same place of the document: for a limiter in a list, that is its place in the list. Those of another type start
afresh, and so do those of your own whose definition has no \`update\`, if their options change. \`reload\` returns what
changed, place by place: whether it is in force \`"now"\` or at the \`"nextStart"\`, and whether something
\`startsAfresh\`. What was set by hand, such as \`config.bucket("api").setRate(5)\` or \`pool.concurrency = 2\`, stays until
the document changes there.

## Types of limiters

![Delays after the first 20 failures of an item, for each of the examples below](delays.svg)

The item of the picture fails again as soon as it is tried.

${table(["type", "delay", "choose it when"], builtIns.map(partRow))}

${
    builtIns
      .map(({ example }) => partSection(limiters.get(example.type)!, { limiters: { example } }))
      .join("\n\n")
  }

## Types of disciplines

A discipline says which of the items that are ready is handed out next. Without one, a queue is first in, first out. Each
queue has a discipline of its own, so they have no names.

${table(["type", "order", "choose it when"], builtInDisciplines.map(partRow))}

${
    builtInDisciplines
      .map(({ example }) =>
        partSection(disciplines.get(example.type)!, { queues: { example: { discipline: example } } })
      )
      .join("\n\n")
  }

## Types of your own

A limiter that a plugin defines is used in a config as the built-in ones are, by a registry that knows it:
\`loadConfig(source, { limiters: registry })\`; and likewise a discipline with \`{ disciplines: registry }\`. The registry
also describes it to editors: \`configSchema({ limiters: registry })\` is the schema with its types. [examples/print_schema.ts](../examples/print_schema.ts)
prints one:

${code("sh", "deno run examples/print_schema.ts > workqueue.schema.json")}
`;
}

function partRow({ example: { type }, effect, choice }: BuiltIn<{ type: string }>): string[] {
  return [`[\`${type}\`](#${type})`, effect, choice];
}

/** `document` shows the part in its place. */
function partSection(
  { type, description, options }: { type: string; description: string; options: Fields<Words> },
  document: Record<string, Record<string, unknown>>,
): string {
  return [`### ${type}`, description, code("json", shortDocument(document)), optionsTable(options)].join("\n\n");
}

/** A document of which each part stands on one line. */
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

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** What an option takes, in words. */
function valueOf(field: Field<Words>): string {
  switch (field.kind) {
    case "duration":
      return "duration" + bounds(field.min, field.max, " ms") + (field.infinite ? ', or `"unlimited"`' : "");
    case "integer":
      return field.kind + bounds(field.min, field.max);
    case "number":
      return field.kind + bounds(field.min, field.max) + (field.infinite ? ", perhaps infinite" : "");
    case "boolean":
      return "`true` or `false`";
    case "string":
      return "text" + bounds(field.minLength, field.maxLength, " characters");
    case "enum":
      return field.values.map((value) => `\`"${value}"\``).join(", ");
    case "weights":
      return `object of numbers by name${bounds(MIN_WEIGHT, MAX_WEIGHT)}`;
    case "limiter":
      return field.template ? "limiter" : "limiter, or the name of one";
    case "limiters":
      return "list of limiters or names" + bounds(field.minItems, undefined, " of them");
    case "bucket":
      return "`{ rate, burst }`, or the name of a limiter that is a bucket";
    case "buckets":
      return "list of those" + bounds(field.minItems, undefined, " of them");
    case "discipline":
      return "discipline";
    case "disciplines":
      return "list of disciplines" + bounds(field.minItems, undefined, " of them");
  }
}

function bounds(min: number | undefined, max: number | undefined, unit = ""): string {
  const least = min === undefined ? "" : `, at least ${min}${unit}`;
  const most = max === undefined ? "" : `, at most ${max}${unit}`;
  return least + most;
}

function isRequired(field: Field<Words>): string {
  if ("default" in field) return `no: \`${JSON.stringify(field.default)}\` if left out`;
  return field.required === false ? "no" : "yes";
}
