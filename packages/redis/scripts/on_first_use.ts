import type { Script } from "../connection/connection.ts";
import { createScript } from "../connection/script.ts";
import type { DeclaredScript } from "./declare.ts";

/** Creates each script when it is first used, because a program uses few of them. The arguments are as for `lua`. */
export function createOnFirstUse<Name extends string>(
  declared: Readonly<Record<Name, Pick<DeclaredScript<never, never, never>, "lua">>>,
  time: string,
  isPartition = false,
): Readonly<Record<Name, Script>> {
  const created: Partial<Record<Name, Script>> = {};
  const scripts = {} as Record<Name, Script>;
  for (const name of Object.keys(declared) as Name[]) {
    const get = () => created[name] ??= createScript(declared[name].lua(time, isPartition));
    Object.defineProperty(scripts, name, { get, enumerable: true });
  }
  return scripts;
}
