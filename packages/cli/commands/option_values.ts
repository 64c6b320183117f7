import { InvalidArgumentError, Option } from "commander";

/** Reads the value of an option that is a whole number. */
export function parseInteger(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max) {
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  }
  return number;
}

/** The option that names plugins. */
export function pluginOption(): Option {
  return repeatable("--plugin <file>", "a module of limiters and disciplines for the config, which is run");
}

/** An option that may be given more than once. */
export function repeatable(flags: string, description: string): Option {
  const append = (text: string, before: readonly string[] = []) => [...before, text];
  return new Option(flags, `${description}; may be repeated`).argParser(append);
}
