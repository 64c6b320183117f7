import { InvalidArgumentError, Option } from "commander";

/**
 * Parses an integer option.
 *
 * @throws {InvalidArgumentError} If the text is not an integer from `min` to `max`.
 */
export function parseInteger(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max) {
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
  }
  return number;
}

/** Description of the `--plugin` option. */
export const PLUGIN_HELP =
  "load limiters, throttles and disciplines for the config from this module, whose code is run; may be repeated";

/** Appends an option's value to the values given before it. */
export function append(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Creates the `--plugin` option. */
export function pluginOption(): Option {
  return new Option("--plugin <file>", PLUGIN_HELP).argParser(append);
}

/** Creates an option that may be repeated. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`).argParser(append);
}
