/** Whether a value is an object with all of these methods. */
export function hasMethods(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function");
}
