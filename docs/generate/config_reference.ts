import { readFileSync } from "node:fs";
import { disciplines, type Field, type Fields, limiters, throttles } from "@workqueue/core";
import { queueOptions } from "@workqueue/core/config";
import { MAX_RATE, MAX_WEIGHT, MIN_RATE, MIN_WEIGHT } from "../../registry/option_kinds.ts";
import { type BuiltIn, builtInDisciplines, builtIns, builtInThrottles } from "./built_ins.ts";

/** Kinds of parts that can be the value of an option. */
type Words = "limiter" | "discipline" | "throttle";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

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

/** Functions that write the pages of the config reference, keyed by the path of the page. */
export const configPages: Readonly<Record<string, () => string>> = {
  "docs/config.md": startPage,
  "docs/config/check.md": checkPage,
  "docs/config/queues.md": queuesPage,
  "docs/config/limiters.md": limitersPage,
  "docs/config/throttles.md": throttlesPage,
  "docs/config/disciplines.md": disciplinesPage,
};

/** Last lines of the pages that are generated as a whole. */
const GENERATED = `---

\`npx -y deno task generate\` writes this page from the definitions in the code.
`;

/** Returns the first page, with the config of the examples. */
function startPage(): string {
  return read("docs/config.md").replace(/```json\n[^]*?```/, () => code("json", read("examples/workqueue.json")));
}

/** Returns the page on checks, with the address of the schema of this version. */
function checkPage(): string {
  return read("docs/config/check.md").replace(/https:\/\/jsr\.io\/\S+\.schema\.json/, schemaUrl());
}

function queuesPage(): string {
  return `# Options of queues and pools

These options of a queue are in the section \`queues\` of a [config](../config.md). \`concurrency\`, \`maxRetries\` and
\`timeout\` are options of the queue's pool, which \`config.runWorkers\` starts.

${optionsTable(queueOptions)}

## What a reload changes

A [reload](reload.md) changes most options at once. To slow a running queue, change its \`throttle\`.

${reloadTable()}

${GENERATED}`;
}

function limitersPage(): string {
  const sections = builtIns.map(({ example }) => {
    const section = partSection(limiters.get(example.type)!, { limiters: { example } });
    return example.type === "per-group" ? `${section}\n\n${OF_GROUPS}` : section;
  });
  return `# Types of limiters

[Choosing a limiter](../limiters.md) helps you choose. The picture shows the delays of an item that fails again as soon
as it is retried.

![Delays after the first 20 failures of an item, for each example below](../delays.svg)

${table(["type", "delay", "choose it when"], builtIns.map(partRow))}

${sections.join("\n\n")}

${GENERATED}`;
}

function throttlesPage(): string {
  const sections = builtInThrottles.map(({ example }) =>
    partSection(throttles.get(example.type)!, { throttles: { example } })
  );
  return `# Types of throttles

[Choosing a throttle](../throttles.md) helps you choose. A throttle without a \`type\` is a \`bucket\`. Throttles in the
section \`throttles\` have names, and all queues that refer to a name share its throttle. A limiter of type \`bucket\` is a
throttle too, under its name.

${table(["type", "effect", "choose it when"], builtInThrottles.map(partRow))}

${sections.join("\n\n")}

${GENERATED}`;
}

function disciplinesPage(): string {
  const sections = builtInDisciplines.map(({ example }) =>
    partSection(disciplines.get(example.type)!, { queues: { example: { discipline: example } } })
  );
  return `# Types of disciplines

[Choosing a discipline](../ordering.md) helps you choose. Each queue has its own discipline, so disciplines have no
names. Without a discipline, a queue is first in, first out.

${table(["type", "order", "choose it when"], builtInDisciplines.map(partRow))}

${sections.join("\n\n")}

${GENERATED}`;
}

/** Returns the row of a type in a table. */
function partRow({ example: { type }, effect, choice }: BuiltIn<{ type: string }>): string[] {
  return [`[\`${type}\`](#${type})`, effect, choice];
}

/**
 * Returns the page's section about a type of limiter, throttle or discipline. `document` is an example config that uses
 * it.
 */
function partSection(
  { type, description, options }: { type: string; description: string; options: Fields<Words> },
  document: Record<string, Record<string, unknown>>,
): string {
  return [`## ${type}`, description, code("json", shortDocument(document)), optionsTable(options)].join(
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

const LATER = "Applies to queues that are created later. Existing queues stay as they are.";

/** Effects of a change that a reload makes, by option. */
const ON_RELOAD: Readonly<Record<keyof typeof queueOptions, string>> = {
  limiter: "Changes the delays of later failures. Existing delays stay.",
  maxSleep: LATER,
  addWhileDelayed: LATER,
  forgetAfter:
    "Changes when existing queues forget failures. Adding or removing the option applies only to queues that are created later.",
  retryBudget:
    "Changes the budget of existing queues. Adding or removing the option applies only to queues that are created later.",
  keepGivenUp:
    "Changes how many given-up items existing queues keep, and for how long. Items over the new limits are dropped. Adding or removing the option applies only to queues that are created later.",
  discipline: LATER,
  throttle: "Changes which attempts may start. Running attempts continue, and count for a new throttle.",
  concurrency: "Starts more handlers at once, or fewer as running ones end.",
  maxRetries: "Applies from the next failure on. Given-up items stay given up.",
  timeout: "Applies to attempts that start later. Running attempts keep the old timeout.",
};

function reloadTable(): string {
  const rows = Object.entries(ON_RELOAD).map(([option, effect]) => [
    `\`${option}\``,
    queueOptions[option as keyof typeof queueOptions].inForce === "now" ? "now" : "next start",
    effect,
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
