import { parse, TomlError } from "smol-toml";
import { MAX_DEPTH, type Parsed, problemAt, TOO_DEEP, type Unparsed } from "./parsed.ts";
import { createLocate } from "./places.ts";
import { tomlTree } from "./toml_tree.ts";

/** Parses TOML. */
export function parseToml(text: string): Parsed | Unparsed {
  try {
    return { document: parse(text, { maxDepth: MAX_DEPTH }), locate: createLocate(text, () => tomlTree(text)) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [line] = error.message.split("\n", 1); // the remaining lines of the message quote the text around the error
    const message = line!.replace("Invalid TOML document: ", "");
    return { problems: [problemAt(error, message.includes("excessively nested") ? TOO_DEEP : message)] };
  }
}
