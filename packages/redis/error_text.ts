const MAX_LENGTH = 1000;

/** What an error says, as a text of bounded length. Anything can be thrown, also what throws when it is looked at. */
export function messageOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return "An error that cannot be shown";
  }
}
