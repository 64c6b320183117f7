/** Formats a duration: `"35 ms"`, `"4.2 s"`, `"2 min 5 s"`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const MAX_SHOWN = 200;

/** Makes a string safe to print on a terminal: truncates it to 200 characters and replaces control characters. */
export function printable(text: string): string {
  const shown = text.length > MAX_SHOWN ? text.slice(0, MAX_SHOWN) + "…" : text;
  return shown.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "\u{FFFD}");
}

/** Returns the message of an error, or the text of another thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the last line of a string, ignoring white space at the end of the string. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!;
}

/**
 * Quotes a command for a shell. A first word that contains "=" is also quoted, because the shell would otherwise treat
 * the word as an assignment.
 */
export function quoteAll(command: readonly string[]): string {
  return command.map((argument, index) => {
    const isPlain = /^[\w@%+=:,./-]+$/.test(argument) && !(index === 0 && argument.includes("="));
    return isPlain ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
  }).join(" ");
}

/** Formats a duration in whole seconds, so that the text changes slowly enough to read. */
export function formatLength(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : formatSeconds(whole);
}
