import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import * as core from "@workqueue/core";
import { inOneLine } from "@workqueue/core/internal";
import { describeSystemError, UsageError } from "../system/usage_error.ts";

/**
 * Plugin for `--plugin FILE`: the default export of the file, a function that registers types of limiters, throttles
 * and disciplines. JavaScript files run on every runtime. TypeScript files run on runtimes that support TypeScript.
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
 * The argument provides everything from `@workqueue/core`, because an import of that package might not resolve in the
 * plugin's folder. A plugin can import any other package that is installed in its folder.
 */
export type Plugin = (registries: PluginRegistries) => unknown;

/** Argument of a plugin. */
export interface PluginRegistries {
  /** Registry of limiter types, including the built-in ones. */
  readonly limiters: core.LimiterRegistry;
  /** Registry of discipline types, including the built-in ones. */
  readonly disciplines: core.DisciplineRegistry;
  /** Registry of throttle types, including the built-in ones. */
  readonly throttles: core.ThrottleRegistry;
  /** Exports of `@workqueue/core`, such as `createExponentialLimiter` and `defineLimiter`. */
  readonly core: typeof core;
}

/**
 * Loads plugins one after the other. Loading a plugin runs its code.
 *
 * @param paths Paths of the plugins, relative to the working directory.
 * @returns Registries with the built-in types and the plugins' types, for `loadConfig`.
 * @throws {UsageError} If a file doesn't exist, can't be imported or is not a plugin.
 * @throws {UsageError} If a plugin throws or registers nothing.
 */
export async function loadPlugins(
  paths: readonly string[] = [],
): Promise<Pick<core.LoadConfigOptions, "limiters" | "disciplines" | "throttles">> {
  if (paths.length === 0) return {};
  const limiters = core.limiters.extend();
  const disciplines = core.disciplines.extend();
  const throttles = core.throttles.extend();
  const types = () => [limiters, disciplines, throttles].map((registry) => registry.types()).join("\n");
  for (const path of paths) {
    const before = types();
    const plugin = await importDefault(path);
    if (typeof plugin !== "function") {
      throw refusal(path, "its default export is not a function such as ({ limiters }) => limiters.register({ … })");
    }
    try {
      await (plugin as Plugin)({ limiters, disciplines, throttles, core });
    } catch (error) {
      throw failure(path, error);
    }
    if (types() === before) throw refusal(path, "it registers no limiter, throttle or discipline type");
  }
  return { limiters, disciplines, throttles };
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
  return new UsageError(`Cannot load plugin '${path}': ${reason}`, { cause });
}

/** Creates the error for a plugin that throws or can't be imported. */
function failure(path: string, error: unknown): UsageError {
  const { code, message, stack } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /\.[cm]?ts$/.test(path)) {
    return refusal(
      path,
      "this version of Node cannot run TypeScript; use Node 22.18 or later, Deno or Bun, or compile it to JavaScript",
      error,
    );
  }
  const [reason = ""] = stripVTControlCharacters(message ?? String(error)).split("\n");
  const place = placeIn(
    path,
    error as { position?: Position } | undefined,
    stripVTControlCharacters(`${stack}${message}`),
  );
  const hint = code === "ERR_MODULE_NOT_FOUND" && /["']@workqueue\/core\b/.test(reason)
    ? "; use the 'core' that the exported function receives: ({ limiters, core }) => …"
    : "";
  return refusal(path, `it failed${place}: ${inOneLine(reason)}${hint}`, error);
}

interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Describes the position of an error in a plugin. Returns an empty string if the runtime doesn't report the position.
 * Bun reports a separate position for syntax errors.
 */
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
