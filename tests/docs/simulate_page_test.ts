/** Tests of `docs/simulate.md`: its scripts print the output shown on the page, and it has the parts it promises. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Tokens } from "marked";
import { parse } from "yaml";
import { loadSchema } from "@workqueue/simulate";
import { incidents } from "../../packages/simulate/incidents/incidents.ts";
import { ROOT } from "../cli/cli.ts";
import { tokensOf } from "./markdown.ts";
import { openShell } from "./shell.ts";

const PAGE = "docs/simulate.md";
const WORKFLOW = "examples/simulate.workflow.yml";

const text = Deno.readTextFileSync(ROOT + PAGE);
const page = tokensOf(text).filter((token) => token.type !== "space");
const codes = page.filter((token): token is Tokens.Code => token.type === "code");

/** Scripts on the page, each with the output that is shown below the script. */
const examples = page.flatMap((token, index) => {
  const next = page[index + 1];
  const isExample = token.type === "code" && (token as Tokens.Code).lang === "sh" && next?.type === "code";
  return isExample ? [{ script: (token as Tokens.Code).text, shown: (next as Tokens.Code).text }] : [];
});

/** End of the script that repeats the comparison of the script before it, with a condition. */
const FILTER = " | grep failed";
const judgedAt = examples.findIndex(({ script }) => script.endsWith(FILTER));
const [compared, judged] = [examples[judgedAt - 1], examples[judgedAt]];
/** The condition. One run with it prints what both scripts print, because a comparison takes seconds. */
const condition = judged!.script.slice(judged!.script.indexOf(" \\\n  --fail-if"), -FILTER.length);

/** Returns the lines of an output that `FILTER` leaves out, and the other lines. */
function split(output: string): [others: string, failed: string] {
  const lines = output.split("\n");
  const isFailed = (line: string) => line.includes("failed");
  return [lines.filter((line) => !isFailed(line)).join("\n"), lines.filter(isFailed).join("\n")];
}

Deno.test(`${PAGE}: each script prints the output shown below it`, async () => {
  const { workspace, run } = await openShell();
  await using _ = workspace;
  Deno.symlinkSync(`${ROOT}packages`, `${workspace.directory}/packages`);
  for (const { script, shown } of examples) {
    if (script === judged!.script) continue; // run together with the script before it
    const isCompared = script === compared!.script;
    const output = await run(isCompared ? `${script}${condition} 2> /dev/null` : script);
    const [others, failed] = isCompared ? split(output) : [output, ""];
    assertEquals(others.trimEnd(), shown.trimEnd(), script);
    if (isCompared) assertEquals(failed.trimEnd(), judged!.shown.trimEnd(), judged!.script);
  }
  assertEquals(examples.length, 7);
  assertEquals(judged!.script, `${compared!.script.split("\n").at(-1)}${condition}${FILTER}`);
});

Deno.test(`${PAGE}: it shows the files of the clone unchanged`, () => {
  for (const path of ["examples/outage.yaml", WORKFLOW]) {
    const shown = codes.filter(({ lang }) => lang === "text").map(({ text }) => text);
    const file = Deno.readTextFileSync(ROOT + path).replace(/^# (An outage|yaml-language-server).*\n/gm, "").trimEnd();
    assert(shown.includes(file), path);
  }
  const steps = JSON.stringify(parse(Deno.readTextFileSync(ROOT + WORKFLOW)).jobs.simulate.steps);
  assertStringIncludes(steps, "workqueue simulate queues.yaml --load load.yaml");
});

Deno.test(`${PAGE}: the reference has a row for each type of part, and each option`, () => {
  const reference = text.slice(text.indexOf("## Load documents"), text.indexOf("## Cookbook"));
  const { types, options } = namesIn(loadSchema());
  assert(types.size > 15 && options.size > 30);
  for (const type of types) assertStringIncludes(reference, `\n| \`${type}\` `);
  for (const option of options) assertStringIncludes(reference, `\`${option}\``);
});

/** Returns the names of all types of parts and of all options in a schema. */
function namesIn(schema: unknown, types = new Set<string>(), options = new Set<string>()) {
  if (typeof schema === "object" && schema !== null) {
    const { properties = {} } = schema as { properties?: Record<string, { const?: string }> };
    for (const [name, { const: type }] of Object.entries(properties)) {
      if (type !== undefined) types.add(type);
      else if (name !== "type" && name !== "$schema") options.add(name);
    }
    for (const inner of Object.values(schema)) namesIn(inner, types, options);
  }
  return { types, options };
}

Deno.test(`${PAGE}: the cookbook has each incident, with its figure and its reason`, () => {
  const tables = page.filter((token): token is Tokens.Table => token.type === "table");
  const cookbook = tables.find(({ header }) => header[0]!.text === "incident (folder)")!;
  const rows = cookbook.rows.map(([incident, , figure, , , reason]) => [incident!.text, figure!.text, reason!.text]);
  const expected = incidents.map(({ title, folder, by, why }) => [`${title} (\`${folder}\`)`, `\`${by}\``, why]);
  assertEquals(rows, expected);
});
