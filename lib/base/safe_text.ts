/**
 * Texts of users in a line that somebody reads: they cannot end it, steer the terminal, or turn the text around them.
 *
 * @module
 */

/** What would do so, where JSON writes it as it is. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** A text in quotes, with escapes. */
export function quote(text: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(UNSAFE_IN_JSON, escape);
}

/**
 * Puts a text into one line.
 *
 * @param text The text.
 * @returns The text, with a space for each run of what is not safe.
 */
export function inOneLine(text: string): string {
  return text.replace(UNSAFE, " ");
}
