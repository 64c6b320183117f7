import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import * as core from "@workqueue/core";
import { inOneLine } from "@workqueue/core/arguments";
import { describeSystemError, UsageError } from "../system/usage_error.ts";

/**
 * A plugin: types of limiter and discipline of one's own, for `--plugin FILE`. It is what the file exports by default, a
 * function that registers them. A file of JavaScript runs on every runtime, one of TypeScript on those that run that.
 *
 * ```js ignore
 * export default ({ limiters }) => {
 *   limiters.register({
 *     type: "fixed",
 *     description: "Always the same delay.",
 *     options: { delay: { kind: "duration", description: "The delay." } },
 *     create: ({ delay }) => ({ when: () => delay, forget() {}, numRequeues: () => 0 }),
 *   });
 * };
 * ```
 *
 * It is given all that it needs of `@workqueue/core`, as a plugin lies in a folder of its user's, where an import of that
 * may lead nowhere. It may import what is there.
 */
export type Plugin = (registries: PluginRegistries) => unknown;

/** What a plugin is given. */
export interface PluginRegistries {
  /** Where it registers types of limiter. The built-in ones are there. */
  readonly limiters: core.LimiterRegistry;
  /** Where it registers types of discipline. The built-in ones are there. */
  readonly disciplines: core.DisciplineRegistry;
  /** All that `@workqueue/core` exports, such as `createExponentialLimiter` to build upon, and `defineLimiter`. */
  readonly core: typeof core;
}

/**
 * Loads plugins, one after the other: this runs their code.
 *
 * @param paths The files; relative ones are looked for from the working directory.
 * @returns The registries with what the plugins have registered beside the built-in types, for `loadConfig`.
 * @throws {UsageError} If a file is not there or cannot be imported, is no plugin, throws or registers nothing.
 */
export async function loadPlugins(
  paths: readonly string[] = [],
): Promise<Pick<core.LoadConfigOptions, "limiters" | "disciplines">> {
  if (paths.length === 0) return {};
  const [limiters, disciplines] = [core.limiters.extend(), core.disciplines.extend()];
  const types = () => [limiters, disciplines].map((registry) => registry.types()).join("\n");
  for (const path of paths) {
    const before = types();
    const plugin = await importDefault(path);
    if (typeof plugin !== "function") {
      throw refusal(path, "it exports no function by default, such as ({ limiters }) => limiters.register({ … })");
    }
    try {
      await (plugin as Plugin)({ limiters, disciplines, core });
    } catch (error) {
      throw failure(path, error);
    }
    if (types() === before) throw refusal(path, "it registers no type of limiter or discipline");
  }
  return { limiters, disciplines };
}

async function importDefault(path: string): Promise<unknown> {
  try {
    if (!statSync(path).isFile()) throw Object.assign(new Error(), { code: "EISDIR" });
  } catch (error) {
    throw refusal(path, describeSystemError(error, "file"), error);
  }
  try {
    return (await import(pathToFileURL(resolve(path)).href)).default;
  } catch (error) {
    throw failure(path, error);
  }
}

function refusal(path: string, reason: string, cause?: unknown): UsageError {
  return new UsageError(`Cannot load plugin '${path}' as ${reason}`, { cause });
}

/** The error of a plugin that throws, or whose import fails. */
function failure(path: string, error: unknown): UsageError {
  const { code, message, stack } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /\.[cm]?ts$/.test(path)) {
    return refusal(path, "this version of Node runs no TypeScript: make JavaScript of it, or take Deno or Bun", error);
  }
  const [reason = ""] = stripVTControlCharacters(message ?? String(error)).split("\n");
  const place = placeIn(
    path,
    error as { position?: Position } | undefined,
    stripVTControlCharacters(`${stack}${message}`),
  );
  const hint = code === "ERR_MODULE_NOT_FOUND" && /["']@workqueue\/core\b/.test(reason)
    ? "; the function that it exports is given that: ({ limiters, core }) => …"
    : "";
  return refusal(path, `it fails${place}: ${inOneLine(reason)}${hint}`, error);
}

interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where in a plugin an error comes from, in words, where the runtime tells. Bun has a position for what it cannot parse. */
function placeIn(path: string, error: { position?: Position } | undefined, trace: string): string {
  const absolute = resolve(path);
  const position = error?.position;
  if (position?.file === absolute) return ` at line ${position.line}, column ${position.column}`;
  for (const name of [pathToFileURL(absolute).href, absolute]) {
    const [, line, column] = /^:(\d+):(\d+)/.exec(trace.split(name)[1] ?? "") ?? [];
    if (line !== undefined) return ` at line ${line}, column ${column}`;
  }
  return "";
}
