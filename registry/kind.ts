/**
 * A kind of part that a config can describe, such as limiters. Definitions, reading, building and schemas are the same
 * for all kinds; this is what they have to know of each.
 */
export interface PartKind<Word extends string = string, Part = unknown> {
  /**
   * What one such part is called in configs, in schemas, and as the kind of an option that takes one. An option whose
   * kind is this word with an `s` takes a list of them.
   */
  readonly word: Word;
  /** Its name in messages about code, such as "rate limiter". */
  readonly name: string;
  /** Whether a document gives names to such parts, so that an option can take a name in place of a config. */
  readonly hasNames: boolean;
  /** The type of all such parts, where there is only one: configs do not say it then. */
  readonly onlyType?: string;
  /** Whether a value is such a part. */
  is(value: unknown): value is Part;
}

/** What a field says of the parts that its option takes. */
interface PartOption<Kind extends PartKind> {
  readonly kind: Kind;
  readonly isList: boolean;
}

/** Finds the kind of part that a field names; `undefined` for an option that is plain data. */
export function findPartKind<Kind extends PartKind>(
  kinds: readonly Kind[],
  fieldKind: string,
): PartOption<Kind> | undefined {
  for (const kind of kinds) {
    if (fieldKind === kind.word) return { kind, isList: false };
    if (fieldKind === `${kind.word}s`) return { kind, isList: true };
  }
  return undefined;
}
