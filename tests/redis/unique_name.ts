/** Returns a name that no other test uses, on any machine. */
export function uniqueName(name: string): string {
  return `${name}-${crypto.randomUUID()}`;
}
