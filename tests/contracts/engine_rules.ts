/** Tables that say which rules hold on an engine. */

export type Verdict = "holds" | "holds in each process" | "does not hold";

/** Rule of `docs/rules.md`: its number, its text, whether it holds on an engine, and why. The strings are Markdown. */
export interface RuleOnEngine {
  readonly number: number;
  readonly rule: string;
  readonly verdict: Verdict;
  readonly why: string;
}

/** Returns the lines of the Markdown table. */
export function tableOfRules(product: string, rules: readonly RuleOnEngine[]): string[] {
  const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    row("", "rule", `on ${product}`, "why, and how far"),
    row("---", "---", "---", "---"),
    ...rules.map(({ number, rule, verdict, why }) => row(`${number}`, rule, verdict, why)),
  ];
}
