/** Markdown tables for the reports. */

/** Returns the lines of a table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
