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

Deno.test(`${PAGE}: each script prints what is shown below it`, async () => {
  const { workspace, run } = await openShell();
  await using _ = workspace;
  Deno.symlinkSync(`${ROOT}packages`, `${workspace.directory}/packages`);
  for (const { script, shown } of examples) assertEquals((await run(script)).trimEnd(), shown.trimEnd(), script);
  assertEquals(examples.length, 7);
});

Deno.test(`${PAGE}: the files of the clone that it shows are those`, () => {
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
