import { parse, TomlError } from "smol-toml";
import { type Parsed, problemAt, type Unparsed } from "./parsed.ts";

/** Parses TOML. The parser reports locations only for syntax errors. */
export function parseToml(text: string): Parsed | Unparsed {
  try {
    return { document: parse(text), locate: () => undefined };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [line] = error.message.split("\n", 1); // the remaining lines of the message quote the text around the error
    return { problems: [problemAt(error, line!.replace("Invalid TOML document: ", ""))] };
  }
}
