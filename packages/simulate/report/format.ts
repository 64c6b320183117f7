const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000]] as const;

/** Formats a time or a duration in milliseconds with at most two units, such as `41m` or `1h5m`. */
export function formatTime(ms: number): string {
  if (ms < 999.5) return ms === 0 ? "0" : `${withDigits(ms, 3)}ms`;
  if (ms < 10_000) return `${withDigits(ms / 1000, 2)}s`;
  let seconds = Math.round(ms / 1000) * 1000;
  const parts: string[] = [];
  for (const [unit, length] of UNITS) {
    const count = Math.floor(seconds / length);
    seconds -= count * length;
    if (count > 0) parts.push(`${count}${unit}`);
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.join("");
}

/** Formats a number with at most the given number of significant digits. Whole numbers keep all their digits. */
export function formatCount(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  return withDigits(value, 2);
}

/** Formats a share as a percentage. */
export function formatShare(share: number): string {
  return `${withDigits(share * 100, 2)} %`;
}

function withDigits(value: number, digits: number): string {
  return Number(value.toPrecision(digits)).toString();
}
