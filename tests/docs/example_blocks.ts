/** Examples in pages and in comments of modules: the code blocks that `deno test --doc` would run. */

/** Example. */
export interface Example {
  /** Path of the page or module, and the lines of the block. */
  readonly name: string;
  readonly code: string;
}

const BLOCK = /^([ \t]*)```(\S*)([^\n]*)\n([^]*?)^\1```[ \t]*$/gm;
const LANGUAGES = ["ts", "typescript", "js", "javascript"];

/** Returns the examples of a page or module. Blocks that are marked `ignore` are left out. */
export function examplesIn(path: string, text: string): Example[] {
  const markdown = path.endsWith(".md") ? text : commentsIn(text);
  return [...markdown.matchAll(BLOCK)].flatMap(({ index, 0: block, 1: indent, 2: language, 3: marks, 4: code }) => {
    if (!LANGUAGES.includes(language!) || marks!.includes("ignore")) return [];
    const from = markdown.slice(0, index).split("\n").length;
    const to = from + block.split("\n").length - 1;
    return [{ name: `${path}, lines ${from} to ${to}`, code: code!.replaceAll(new RegExp(`^${indent}`, "gm"), "") }];
  });
}

/** Returns the comments of a module as Markdown, each line at its place. The lines of code are empty. */
function commentsIn(text: string): string {
  let isComment = false;
  return text.split("\n").map((line) => {
    isComment ||= /^\s*\/\*\*/.test(line);
    if (!isComment) return "";
    if (line.includes("*/")) isComment = false;
    return line.replace(/^\s*(?:\/\*\*|\*\/|\*) ?/, "").replace("*/", "");
  }).join("\n");
}

const IMPORT = /^import\s+(?:(type\s)?\s*([^"]*?)\s+from\s+)?"([^"]+)"(\s+with\s+(\{[^}]*\}))?;/gm;

/** Code that runs an example. */
export interface ExampleTest {
  /** Statements that load the imported modules. */
  readonly imports: readonly string[];
  /** Test. Its imports are expressions, so that many tests can be in one module and import the same names. */
  readonly test: string;
}

/** Returns the test of an example in a file. */
export function testOf({ name, code }: Example, file: URL): ExampleTest {
  const imports: string[] = [];
  const body = code.replaceAll(IMPORT, (_, type, clause, specifier, attributes = "", object) => {
    if (type !== undefined) return "";
    const from = JSON.stringify(specifier.startsWith(".") ? new URL(specifier, file).href : specifier);
    imports.push(`import ${from}${attributes};`);
    const module = `await import(${from}${object === undefined ? "" : `, { with: ${object} }`})`;
    return clause === undefined ? `${module};` : `const ${patternOf(clause)} = ${module};`;
  });
  return { imports, test: `Deno.test(${JSON.stringify(name)}, async () => {\n${body}\n});\n` };
}

/** Returns the pattern that takes from a module what an import clause names. */
function patternOf(clause: string): string {
  const whole = /^\* as (\w+)$/.exec(clause);
  if (whole !== null) return whole[1]!;
  const [, ownDefault, list = ""] = /^(\w+)?(?:,\s*)?(?:\{([^}]*)\})?$/.exec(clause)!;
  const named = list.split(",").map((name) => name.trim()).filter((name) => name !== "" && !name.startsWith("type "));
  const names = [...ownDefault === undefined ? [] : [`default: ${ownDefault}`], ...named];
  return `{ ${names.map((name) => name.replace(" as ", ": ")).join(", ")} }`;
}
