/** Replaces the parts of a message that differ from item to item. */
const VARIABLE = "*";

/** Shortest key that is replaced in messages. A shorter key could be part of any message. */
const MIN_KEY = 3;

/** Parts of a message that stay, although they contain digits: codes tell errors apart. */
const CODES = [
  String.raw`\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?: ?code)?)[ :=]{1,2}[1-5]\d\d\b`, // HTTP status codes
  String.raw`(?<=^(?:\w*Error: )?)[45]\d\d\b`, // a status code at the start, as in `Error: 503 try later`
  String.raw`\bexit(?:ed)?(?: with)?(?: code| status)?[ :=]{1,2}\d{1,3}\b`, // exit codes of commands
  String.raw`(?<=\bcurl: )\(\d{1,2}\)`, // exit codes in the errors of curl
];

/** Parts of a message that vary. If several match at the same position, the first one counts. */
const PARTS = [
  String.raw`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b`, // timestamps
  String.raw`\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b`, // UUIDs
  String.raw`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`, // IPv4 addresses
  String.raw`(?<![\w:.])\[?(?=[0-9a-f:]*\d)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:\](?::\d+)?)?(?![\w:])`, // IPv6 etc.
  String.raw`"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|${"`[^`\n]*`"}|(?<!\w)'[^'\n]*'(?!\w)`, // quoted strings
  String.raw`(?<=[a-z][a-z0-9+.-]*://\S*)\?[^\s"')>\]]+`, // queries of URLs
  String.raw`\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b`, // hexadecimal numbers
  String.raw`\b(?=[a-z_]*\d[a-z_]*\d)[a-z0-9_]{16,}\b`, // other IDs
  String.raw`\d+(?:[.,]\d+)*(?:e[+-]?\d+)?`, // other numbers
];

const PATTERN = new RegExp(`(${CODES.join("|")})|${PARTS.join("|")}`, "gi");

/**
 * Returns an error message with its variable parts replaced by `*`: the item's key, numbers, IDs, addresses, times and
 * quoted strings. Errors with the same cause then have the same message.
 */
export function patternOf(message: string, key: string): string {
  const pattern = withoutKey(message, key).replace(PATTERN, (_part, code?: string) => code ?? VARIABLE);
  return pattern.replace(/\*{2,}/g, VARIABLE);
}

/** Replaces the key where it is not part of a longer word. */
function withoutKey(message: string, key: string): string {
  if (key.length < MIN_KEY || !message.includes(key)) return message;
  let result = "";
  let from = 0;
  for (let at = message.indexOf(key); at !== -1; at = message.indexOf(key, at + 1)) {
    const end = at + key.length;
    if (at < from || isInWord(message, at) || isInWord(message, end)) continue;
    result += message.slice(from, at) + VARIABLE;
    from = end;
  }
  return result + message.slice(from);
}

/** Reports whether the characters before and at a position belong to the same word. */
function isInWord(text: string, at: number): boolean {
  return at > 0 && at < text.length && /^\w\w$/.test(text.slice(at - 1, at + 1));
}
