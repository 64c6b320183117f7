import { availableParallelism } from "node:os";
import { type ConfigChange, loadConfig, type LoadConfigOptions, type WorkQueueConfig } from "@workqueue/core";
import { printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";

/** What options of the command line say in place of the config: members of a queue, and how failures wait. */
export interface Overrides {
  readonly concurrency?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly timeout?: number | undefined;
  readonly starts?: { readonly rate: number; readonly burst: number } | undefined;
  /** The first delay, and the longest. */
  readonly backoff?: { readonly baseDelay: number; readonly maxDelay: number } | undefined;
  /** The part of each delay that is random, up to 1. */
  readonly jitter?: number | undefined;
  /** What ends the name of the group in a line. */
  readonly groupBy?: string | undefined;
}

/** What the command asks for. */
export interface RunConfigOptions {
  /** The config file; without it, there is a queue of the built-in one. */
  readonly path?: string | undefined;
  /** The queue of the config. */
  readonly queue?: string | undefined;
  /** What the options say. */
  readonly overrides: Overrides;
  /** The types of limiters and disciplines, and where the queue measures. */
  readonly load: LoadConfigOptions;
}

type Queue = Readonly<Record<string, unknown>>;

interface Document {
  readonly queues?: Readonly<Record<string, Queue>>;
}

const BUILT_IN: Document = { queues: { default: {} } };
/** Where neither a config nor an option says: failures wait 100 ms, then twice as long each time, up to half a minute. */
const BACKOFF = { type: "exponential", baseDelay: 100, maxDelay: 30_000 };
const MAX_RETRIES = 5;

/** The config of a run: a file's, or the built-in one, with what options of the command line say in its place. */
export class RunConfig {
  /** The config file; `undefined` if there is none. */
  readonly path: string | undefined;
  /** The queue of the config that is used. */
  readonly queueName: string;
  /** What is in force. */
  readonly config: WorkQueueConfig;
  /** Whether the order in which lines are begun is that of a discipline. */
  readonly hasDiscipline: boolean;
  readonly #overrides: Overrides;
  #document: Document;
  #timeout: number | undefined;

  private constructor(document: Document, queueName: string, { path, overrides, load }: RunConfigOptions) {
    this.path = path;
    this.queueName = queueName;
    this.#overrides = overrides;
    this.#document = document;
    this.config = loadConfig(this.#withOverrides(document), load);
    const { timeout, discipline } = this.config.describe(queueName);
    this.#timeout = timeout;
    this.hasDiscipline = discipline !== undefined;
    this.config.onReload((next) => {
      if (!next.queueNames.includes(queueName)) return undefined;
      const { timeout } = next.describe(queueName);
      return () => this.#timeout = timeout;
    });
  }

  /**
   * Loads the config of a run.
   *
   * @param options The file, the queue and what options say in its place.
   * @returns What is in force.
   * @throws {UsageError} If the file cannot be read, anything in it is wrong, or it is open which queue is meant.
   */
  static async open(options: RunConfigOptions): Promise<RunConfig> {
    const { path, queue, load } = options;
    try {
      const [config, document] = path === undefined ? [loadConfig(BUILT_IN, load), BUILT_IN] : await read(path, load);
      return new RunConfig(document, pickQueue(config, queue), options);
    } catch (error) {
      throw error instanceof UsageError ? error : new UsageError((error as Error).message, { cause: error });
    }
  }

  /** What the file that is in force, or the built-in config, says of this run: other queues are left out. */
  get document(): object {
    const { queues, ...others } = this.#document;
    return { ...others, queue: queues?.[this.queueName] };
  }

  /** How long one attempt may take, in milliseconds; `undefined` for as long as it likes. */
  get timeout(): number | undefined {
    return this.#timeout;
  }

  /** Reads the file again: what is to be in force, with what the options say. */
  async readDocument(): Promise<object> {
    const { readConfigFile } = await import("@workqueue/config-file");
    return this.#withOverrides(parse(readConfigFile(this.path!)));
  }

  /**
   * Puts in force what the file says, whenever it changes.
   *
   * @param tell Is told what has changed, or what is wrong with the file.
   * @param onReload Is called when something else is in force.
   * @returns Ends that.
   */
  async watch(tell: (message: string) => void, onReload: () => void): Promise<Disposable | undefined> {
    if (this.path === undefined) return undefined;
    const { watchConfigFile } = await import("@workqueue/config-file");
    const reload: WorkQueueConfig["reload"] = (source, options) => {
      this.config.reload(source, { dryRun: true }); // which finds more that is wrong in a text
      const document = parse(source);
      const changes = this.config.reload(this.#withOverrides(document), options);
      if (document.queues?.[this.queueName] !== undefined) this.#document = document; // else the queue goes on as it is
      return changes;
    };
    return watchConfigFile(this.path, { reload }, {
      onReload: (changes) => {
        for (const change of changes) tell(describe(change, this.queueName));
        if (changes.length === 0) tell("Config: it is read again, and says what it said before.");
        if (!this.config.queueNames.includes(this.queueName)) {
          tell(`Config: it has no queue "${this.queueName}" any more, which goes on as it is.`);
        }
        onReload();
      },
      onError: (error) => tell((error as Error).message),
    });
  }

  #withOverrides(document: Document): Document {
    const queue = document.queues?.[this.queueName];
    if (queue === undefined) return document; // the run goes on as it is
    const { concurrency, maxRetries, timeout, starts, backoff, jitter, groupBy } = this.#overrides;
    const backoffLimiter = backoff && { type: "exponential", ...backoff };
    const limiter = jitter === undefined
      ? backoffLimiter
      : { type: "jitter", spread: jitter, limiter: backoffLimiter ?? queue["limiter"] ?? BACKOFF };
    const discipline = groupBy && { type: "fair", separator: groupBy };
    const given = Object.entries({ concurrency, maxRetries, timeout, starts, limiter, discipline })
      .filter(([, value]) => value !== undefined);
    const defaults = { limiter: BACKOFF, concurrency: availableParallelism(), maxRetries: MAX_RETRIES };
    const whole = { ...defaults, ...queue, ...Object.fromEntries(given) };
    return { ...document, queues: { ...document.queues, [this.queueName]: whole } };
  }
}

/** The config of a file, which finds more that is wrong in its text, and the document. */
async function read(path: string, load: LoadConfigOptions): Promise<[WorkQueueConfig, Document]> {
  const { loadConfigFile, readConfigFile } = await import("@workqueue/config-file");
  return [loadConfigFile(path, load), parse(readConfigFile(path))];
}

/** Picks a queue of a config: the one named; else the only one, else the one named "default". */
function pickQueue(config: WorkQueueConfig, name: string | undefined): string {
  const { queueNames } = config;
  if (name !== undefined) {
    config.workers(name); // throws if there is none of that name
    return name;
  }
  if (queueNames.length === 1) return queueNames[0]!;
  if (queueNames.includes("default")) return "default";
  const choice = queueNames.length === 0 ? "none" : queueNames.map((queue) => `"${queue}"`).join(", ");
  throw new UsageError(`Cannot pick a queue as the config has ${choice}: name one with --queue`);
}

function describe({ path, old, new: now, inForce }: ConfigChange, queueName: string): string {
  const isInForce = inForce === "now" || now !== undefined && path === pointerTo("queues", queueName); // it is back
  const when = isInForce ? "" : " (from the next run on)";
  const [is, was] = [now, old].map((value) => value === undefined ? undefined : printable(JSON.stringify(value)));
  return `Config: ${path} is ${is ?? "gone"} now, and was ${was ?? "not there"}${when}`;
}

/** A JSON Pointer. */
function pointerTo(...names: string[]): string {
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function parse(source: string | object): Document {
  return typeof source === "string" ? JSON.parse(source) : source;
}
