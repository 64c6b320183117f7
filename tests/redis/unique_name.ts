/** A name that no other test uses, on this machine or another. */
export function uniqueName(name: string): string {
  return `${name}-${crypto.randomUUID()}`;
}
