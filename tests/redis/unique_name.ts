/** Returns a name that no other test uses, even on another machine. */
export function uniqueName(name: string): string {
  return `${name}-${crypto.randomUUID()}`;
}
