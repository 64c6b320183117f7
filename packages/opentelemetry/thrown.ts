/**
 * Conversion of thrown values for spans. Any value can be thrown, even an object whose getters throw.
 */

/** Converts a thrown value to the exception that a span records. */
export function exceptionOf(thrown: unknown): { name: string; message: string; stack: string } {
  try {
    if (!(thrown instanceof Error)) return { name: typeof thrown, message: String(thrown), stack: "" };
    return { name: String(thrown.name), message: String(thrown.message), stack: String(thrown.stack ?? "") };
  } catch {
    return { name: typeof thrown, message: "What was thrown cannot be read", stack: "" };
  }
}

/** Value of `error.type` in OpenTelemetry's conventions if there is no better value. */
const OTHER = "_OTHER";
/**
 * Form of a code or a name that identifies a kind of error. A text of another form may contain details of one error.
 * Metrics derived from spans would then have a series for each error.
 */
const IDENTIFIER = /^[\w.:-]{1,64}$/;

/** Returns the kind of error that was thrown, for the attribute `error.type`. */
export function errorTypeOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return OTHER;
    const { code, name } = thrown as { code?: unknown; name: unknown };
    return [code, name].find((text): text is string => typeof text === "string" && IDENTIFIER.test(text)) ?? OTHER;
  } catch {
    return OTHER;
  }
}
