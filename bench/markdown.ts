/** Markdown tables of the reports. */

/** Returns a table, line by line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
