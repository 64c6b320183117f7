import { brokenRule, ConfigError, type ConfigIssue, inspect } from "../lib/base/errors.ts";
import type { BrokenRule, BuildContext, LimiterDefinition } from "./definition.ts";
import type { Fields, PlainOptionsOf } from "./fields.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { isRateLimiter } from "../limiters/is_rate_limiter.ts";
import { escapePointer, isPlainObject, type Made, own, type Reader, readOptions } from "./read_options.ts";
import { suggest } from "../lib/base/suggest.ts";

/** How deep limiters may be nested in each other: more is a mistake or an attack. */
export const MAX_DEPTH = 32;
/** How many limiters one may ask in all, itself and those that it refers to by name among them. */
export const MAX_COUNT = 5000;

/** Looks up what a name stands for; notes a problem and returns `undefined` if it stands for nothing. */
export type ResolveName = (name: string, path: string) => Made<RateLimiter> | undefined;

/** The types of limiter that a config may use. */
export interface Definitions {
  get(type: string): LimiterDefinition | undefined;
  types(): string[];
}

/**
 * Reads the limiters of a config and collects what is wrong with them.
 *
 * Reading builds nothing: each limiter comes back as a function that builds it, to be called once the whole
 * document is known to be right.
 */
export class ConfigReader implements Reader {
  readonly issues: ConfigIssue[] = [];
  /** How many limiters were read since the outermost began. */
  count = 0;
  /** How many limiters the one being read is nested in. */
  #depth = 0;

  constructor(
    readonly action: string,
    readonly definitions: Definitions,
    readonly context: BuildContext,
    readonly resolveName: ResolveName,
  ) {}

  fail(path: string, message: string): void {
    this.issues.push({ path, message });
  }

  /** Throws everything that was found wrong so far. */
  throwIssues(): void {
    if (this.issues.length > 0) throw new ConfigError(this.action, this.issues);
  }

  limiter(option: string, value: unknown, path: string): Made<RateLimiter> | undefined {
    if (this.#depth === 0) this.count = 0;
    if (typeof value === "string") return this.resolveName(value, path);
    if (!isPlainObject(value)) {
      this.fail(path, brokenRule(option, "must be a limiter or the name of one", value));
      return undefined;
    }
    if (!this.#isWithinLimits(option, path)) return undefined;
    const definition = this.#definition(own(value, "type"), path);
    if (definition === undefined) return undefined;
    const { type: _, ...options } = value;
    this.#depth++;
    try {
      return this.#read(definition, options, path);
    } finally {
      this.#depth--;
    }
  }

  /** Objects can contain themselves, or one of them be in many places: reading them has to end, and soon. */
  #isWithinLimits(option: string, path: string): boolean {
    if (this.#depth > MAX_DEPTH) {
      this.fail(path, `'${option}' must not be nested in more than ${MAX_DEPTH} other limiters`);
      return false;
    }
    this.count++;
    if (this.count === MAX_COUNT + 1) this.fail(path, `'${option}' is one of more than ${MAX_COUNT} in one limiter`);
    return this.count <= MAX_COUNT;
  }

  #definition(type: unknown, path: string): LimiterDefinition | undefined {
    const definition = typeof type === "string" ? this.definitions.get(type) : undefined;
    if (definition !== undefined) return definition;
    const known = this.definitions.types();
    const list = known.map(inspect).join(", ");
    if (type === undefined) {
      this.fail(`${path}/type`, `'type' is missing: it must be one of ${list}`);
    } else if (typeof type !== "string") {
      this.fail(`${path}/type`, brokenRule("type", "must be a string", type));
    } else {
      this.fail(`${path}/type`, brokenRule("type", `must be one of ${list}`, type) + suggest(type, known));
    }
    return undefined;
  }

  #read(definition: LimiterDefinition, input: Record<string, unknown>, path: string): Made<RateLimiter> | undefined {
    const issuesBefore = this.issues.length;
    const options = readOptions(definition.options, input, path, this);
    if (this.issues.length > issuesBefore) return undefined;
    const broken = this.#check(definition, options.plain, path);
    if (broken !== undefined) {
      const { option, rule } = broken;
      const value = own(Object.hasOwn(input, option) ? input : options.plain, option);
      this.fail(`${path}/${escapePointer(option)}`, brokenRule(option, rule, value));
    }
    return this.issues.length > issuesBefore ? undefined : () => this.#create(definition, options.make(), path);
  }

  /** Calls the definition's own code, which may be anybody's. */
  #check(definition: LimiterDefinition, options: PlainOptionsOf<Fields>, path: string): BrokenRule | undefined {
    try {
      return definition.check?.(options);
    } catch (error) {
      this.fail(path, error instanceof Error ? error.message : `checking ${inspect(definition.type)} failed`);
      return undefined;
    }
  }

  /** As above: what it throws is a problem of the config. */
  #create(definition: LimiterDefinition, options: Record<string, unknown>, path: string): RateLimiter {
    const fail = (message: string, cause?: unknown) =>
      Object.assign(new ConfigError(this.action, [{ path, message }]), { cause });
    let limiter: RateLimiter;
    try {
      limiter = definition.create(options as never, this.context);
    } catch (cause) {
      throw fail(cause instanceof Error ? cause.message : `creating ${inspect(definition.type)} failed`, cause);
    }
    if (!isRateLimiter(limiter)) throw fail(`${inspect(definition.type)} created something that is no rate limiter`);
    return limiter;
  }
}
