/** Words a length of time, as short as it may be: `"35 ms"`, `"4.2 s"`, `"2 min 5 s"`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const MAX_SHOWN = 200;

/** A text as it can be shown on a terminal: not too long, and without control characters, which could do anything there. */
export function printable(text: string): string {
  const shown = text.length > MAX_SHOWN ? text.slice(0, MAX_SHOWN) + "…" : text;
  return shown.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "\u{FFFD}");
}

/** The last line of a text, which may be followed by white space. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!;
}

/** A command as a shell takes it: what is before a command and has "=" in it would be a variable there. */
export function quoteAll(command: readonly string[]): string {
  return command.map((argument, index) => {
    const isPlain = /^[\w@%+=:,./-]+$/.test(argument) && !(index === 0 && argument.includes("="));
    return isPlain ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
  }).join(" ");
}
