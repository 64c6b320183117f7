import { InvalidArgumentError, Option } from "commander";

/** Reads a whole number, as the value of an option. */
export function parseInteger(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max) {
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  }
  return number;
}

/** Description of the option that names plugins. */
export const PLUGIN_HELP = "a module of limiters and disciplines for the config, which is run; may be repeated";

/** Adds the value of an option to those from further left. */
export function append(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Makes the option that names plugins. */
export function pluginOption(): Option {
  return new Option("--plugin <file>", PLUGIN_HELP).argParser(append);
}

/** Makes an option that may be given more than once. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`).argParser(append);
}
