import { getNodeValue, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { parse as parseYaml } from "yaml";

/** By extension: what a text of that format says. JSON is left to the core, which finds more that is wrong with it. */
export const PARSERS: Readonly<Record<string, ((text: string) => unknown) | "core">> = {
  ".json": "core",
  ".jsonc": parseJsonc,
  ".yaml": parseYaml,
  ".yml": parseYaml,
  ".toml": parseTomlWithPlace,
};

/** By way of the tree: objects made of that have no prototype which a key `__proto__` could replace. */
function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    const before = text.slice(0, first.offset).split("\n");
    const reason = printParseErrorCode(first.error);
    throw new SyntaxError(`${reason} at line ${before.length}, column ${before.at(-1)!.length + 1}`);
  }
  return tree && getNodeValue(tree);
}

function parseTomlWithPlace(text: string): unknown {
  try {
    return parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split("\n", 1)[0]!.replace("Invalid TOML document: ", "");
    throw new SyntaxError(`${reason} at line ${error.line}, column ${error.column}`);
  }
}
