import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/** Returns the numbers of the rules that a test file refers to, such as 2 and 11 for `"rules 2 and 11: …"`. */
export function rulesNamedIn(source: string): number[] {
  const names = source.matchAll(/["'`](?:rule|rules) (\d+(?:(?:, | and | to )\d+)*)[:,]/g);
  return [...new Set([...names].flatMap(([, numbers]) => numbersOf(numbers!)))];
}

/** Parses `2`, `2 and 11`, `2, 6 and 11` or `1 to 6`. */
function numbersOf(text: string): number[] {
  const numbers = text.match(/\d+/g)!.map(Number);
  const [first = 0, last = 0] = numbers;
  return text.includes(" to ") ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : numbers;
}

/** Returns the paths of the test files that refer to each rule, by the number of the rule. */
export function testsOfRules(): Map<number, string[]> {
  const tests = new Map<number, string[]>();
  const files = readdirSync(new URL("tests/", root), { recursive: true, encoding: "utf8" });
  for (const file of files.filter((file) => /(?<!rules)_(test|suite)\.ts$/.test(file)).sort()) {
    for (const number of rulesNamedIn(readFileSync(new URL(`tests/${file}`, root), "utf8"))) {
      tests.set(number, [...tests.get(number) ?? [], `tests/${file.replaceAll("\\", "/")}`]);
    }
  }
  return tests;
}

/** Returns `docs/rules.md` with the list of tests at the end of each section. */
export function rules(): string {
  const page = readFileSync(new URL("docs/rules.md", root), "utf8");
  const tests = testsOfRules();
  return page.split(/^(?=## )/m).map((section) => {
    const number = Number(/^## (\d+)\./.exec(section)?.[1]);
    const files = tests.get(number);
    const text = section.replace(/\n+<details>[^]*$/, "").trimEnd();
    if (files === undefined) return `${text}\n\n`;
    const list = files.map((file) => `- \`${file}\``).join("\n");
    return `${text}\n\n<details><summary>Tests</summary>\n\n${list}\n\n</details>\n\n`;
  }).join("").trimEnd() + "\n";
}
