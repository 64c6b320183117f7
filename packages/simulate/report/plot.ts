const BARS = "▁▂▃▄▅▆▇█";

/** Draws numbers as a row of bars, with at most `width` bars. Each bar shows the largest of its numbers. */
export function sparkline(numbers: readonly number[], width: number): string {
  const count = Math.min(numbers.length, width);
  const bars = Array.from({ length: count }, (_, i) => {
    const from = Math.floor(i * numbers.length / count);
    return Math.max(...numbers.slice(from, Math.max(Math.floor((i + 1) * numbers.length / count), from + 1)));
  });
  const most = Math.max(...bars);
  return bars.map((value) => value === 0 ? " " : BARS[Math.min(Math.floor(value / most * BARS.length), 7)]).join("");
}
