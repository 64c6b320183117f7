import { parse, TomlError } from "smol-toml";
import { type Parsed, problemAt, type Unparsed } from "./parsed.ts";
import { createLocate } from "./places.ts";
import { tomlTree } from "./toml_tree.ts";

/** Message of the parser that other formats report in other words. */
const TOO_DEEP = "document contains excessively nested structures. aborting.";

/** Parses TOML. */
export function parseToml(text: string): Parsed | Unparsed {
  try {
    return { document: parse(text), locate: createLocate(text, () => tomlTree(text)) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [line] = error.message.split("\n", 1); // the remaining lines of the message quote the text around the error
    const message = line!.replace("Invalid TOML document: ", "").replace(TOO_DEEP, "it is nested too deeply");
    return { problems: [problemAt(error, message)] };
  }
}
