/**
 * Escaping of user-defined text in messages. Escaped text cannot break the line, control a terminal, or reverse the
 * surrounding text.
 *
 * @module
 */

/** Unsafe characters that `JSON.stringify` does not escape. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** Returns a string in quotes, with unsafe characters escaped. */
export function quote(text: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(UNSAFE_IN_JSON, escape);
}

/**
 * Makes a string fit on one line.
 *
 * @param text The string.
 * @returns The string, with a space in place of each run of unsafe characters.
 */
export function inOneLine(text: string): string {
  return text.replace(UNSAFE, " ");
}
