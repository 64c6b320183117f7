import { assertEquals } from "@std/assert";
import { examplesIn, testOf } from "./example_blocks.ts";

const PAGE = `# Page

\`\`\`ts
one();
\`\`\`

\`\`\`ts ignore
ignored();
\`\`\`

- An item:

  \`\`\`js
  two();
    three();
  \`\`\`

\`\`\`sh
four
\`\`\`
`;

const MODULE = `/**
 * Adds.
 *
 * \`\`\`ts
 * one();
 * \`\`\`
 */
export const text = "\`\`\`ts";
  /** Subtracts.
   * \`\`\`ts
   * two();
   * \`\`\`
   */
`;

Deno.test("examples: a page has its blocks of code, with their lines, except for those marked ignore", () => {
  assertEquals(examplesIn("page.md", PAGE), [
    { name: "page.md, lines 3 to 5", code: "one();\n" },
    { name: "page.md, lines 13 to 16", code: "two();\n  three();\n" },
  ]);
});

Deno.test("examples: a module has the blocks in its comments, and none in its code", () => {
  assertEquals(examplesIn("module.ts", MODULE), [
    { name: "module.ts, lines 4 to 6", code: "one();\n" },
    { name: "module.ts, lines 10 to 12", code: "two();\n" },
  ]);
});

/** Imports, and the code that replaces them. */
const IMPORTS = {
  'import { a } from "x"; // first': 'const { a } = await import("x"); // first',
  'import {\n  a as b,\n  type T,\n} from "x";': 'const { a: b } = await import("x");',
  'import a, { b } from "x";': 'const { default: a, b } = await import("x");',
  'import * as a from "x";': 'const a = await import("x");',
  'import "x";': 'await import("x");',
  'import type { T } from "x";': "",
  'import { a } from "./x.ts";': 'const { a } = await import("file:///folder/x.ts");',
  'import a from "x" with { type: "json" };': 'const { default: a } = await import("x", { with: { type: "json" } });',
};

for (const [code, replacement] of Object.entries(IMPORTS)) {
  Deno.test(`examples: the code of ${code.replaceAll(/\s+/g, " ")} is in a test`, () => {
    const { imports, test } = testOf({ name: "page", code }, new URL("file:///folder/page.md"));
    assertEquals(test, `Deno.test("page", async () => {\n${replacement}\n});\n`);
    const from = / import\((".*?")/.exec(replacement)?.[1];
    const attributes = code.includes("with") ? ' with { type: "json" }' : "";
    assertEquals(imports, from === undefined ? [] : [`import ${from}${attributes};`]);
  });
}
