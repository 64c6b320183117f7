import { ConfigError, inspect } from "../lib/base/errors.ts";
import type { BuildContext } from "./context.ts";
import { isName, type NameNode, type OptionsTree, type PartNode, type PartTree } from "./tree.ts";

/** How parts are built of what was read. */
export interface Building {
  /** What is being done, for messages. */
  readonly action: string;
  readonly context: BuildContext;
  /** The part of that name, which is built already. */
  named(node: NameNode): unknown;
  /** Whether each template was tried already. */
  readonly hasTried?: boolean;
}

/** Builds a part, and those that it is made of before it. */
export function buildPart<Part>(tree: PartTree<Part>, building: Building): Part {
  return isName(tree) ? building.named(tree) as Part : create(tree, building);
}

/** Builds the parts among some options, and returns all of the options. */
export function buildOptions({ plain, parts, templates }: OptionsTree, building: Building): Record<string, unknown> {
  const options = { ...plain };
  for (const [option, part] of Object.entries(parts)) {
    options[option] = Array.isArray(part)
      ? part.map((each) => buildPart(each, building))
      : buildPart(part as PartTree, building);
  }
  for (const [option, template] of Object.entries(templates)) {
    if (!building.hasTried) create(template, building); // its problems show here, and not whenever it is used
    options[option] = () => create(template, { ...building, hasTried: true });
  }
  return options;
}

/** Calls the code of the definition, which may be anybody's: what it throws is a problem of the config. */
function create<Part>({ kind, definition, path, ...options }: PartNode<Part>, building: Building): Part {
  const input = buildOptions(options, building);
  const fail = (message: string, cause?: unknown) =>
    Object.assign(new ConfigError(building.action, [{ path, message }]), { cause });
  let part: Part;
  try {
    part = definition.create(input as never, building.context);
  } catch (cause) {
    throw fail(cause instanceof Error ? cause.message : `creating ${inspect(definition.type)} failed`, cause);
  }
  if (!kind.is(part)) throw fail(`${inspect(definition.type)} created something that is no ${kind.name}`);
  return part;
}
