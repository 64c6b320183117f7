/** The name of the method that gives what is printed of an object. Deno, Node and Bun all look for it. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");
