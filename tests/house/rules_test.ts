/** Tests that `docs/rules.md` describes exactly the rules that are named in tests. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { rulesNamedIn, testsOfRules } from "../../docs/generate/rules.ts";

const root = new URL("../../", import.meta.url);
const page = await Deno.readTextFile(new URL("docs/rules.md", root));
const numbers = [...page.matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number));

Deno.test("rules: docs/rules.md lists the rules in order, each with tests that name it", () => {
  assertEquals(numbers, [...new Set(numbers)].toSorted((a, b) => a - b));
  assert(numbers.length >= 16);
  assertEquals([...testsOfRules().keys()].toSorted((a, b) => a - b), numbers);
});

Deno.test("rules: a test that names a rule has a title in words", async () => {
  for (const file of new Set([...testsOfRules().values()].flat())) {
    const source = await Deno.readTextFile(new URL(file, root));
    for (const [, quote, name] of source.matchAll(/(?:Deno\.test|test)\((?:\{\s*name: )?(["'`])(rules? \d.*?)\1/gs)) {
      assertMatch(
        name!,
        /^rules? [\d, and to]+(, [^:]+)?: .*\w+ .*\w+|^rules? [^:]+: \$\{\w+\}$/,
        `${file}: ${quote}${name}`,
      );
    }
  }
});

Deno.test("rules: the numbers in a name are parsed", () => {
  const source = 'test("rule 7: a"); test("rules 2, 6 and 11: b"); test(`rules 1 to 3, ${name}: c`)';
  assertEquals(rulesNamedIn(source), [7, 2, 6, 11, 1, 3]);
});
