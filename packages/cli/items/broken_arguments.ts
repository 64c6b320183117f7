import { readFileSync } from "node:fs";
import { REPLACEMENT } from "./lines.ts";

/** Arguments of this process, as the system keeps them. */
interface RawArguments {
  /** Arguments that are UTF-8. */
  readonly whole: ReadonlySet<string>;
  /** Arguments that are not UTF-8, with replacement characters. */
  readonly broken: ReadonlySet<string>;
}

let known: RawArguments | undefined;

/**
 * Reports whether an argument of this process is not UTF-8. The runtime then replaces bytes by a character that an
 * argument may also have. Only Linux tells them apart; elsewhere, such a character means that bytes were replaced.
 */
export function isBroken(argument: string): boolean {
  if (!argument.includes(REPLACEMENT)) return false;
  const { whole, broken } = known ??= rawArguments();
  return !whole.has(argument) || broken.has(argument);
}

function rawArguments(): RawArguments {
  const [whole, broken] = [new Set<string>(), new Set<string>()];
  for (const bytes of bytesOfArguments()) {
    try {
      whole.add(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch {
      broken.add(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    }
  }
  return { whole, broken };
}

/** Returns the bytes of each argument of this process; nothing if the system doesn't tell. */
function bytesOfArguments(): Uint8Array[] {
  try {
    const bytes = readFileSync("/proc/self/cmdline");
    const ends = [...bytes.keys()].filter((i) => bytes[i] === 0);
    return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1]! + 1, end));
  } catch {
    return [];
  }
}
