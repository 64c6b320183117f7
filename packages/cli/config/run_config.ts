import type * as configFile from "@workqueue/config-file";
import { type ConfigChange, loadConfig, type LoadConfigOptions, type WorkQueueConfig } from "@workqueue/core";
import type { queueOptions } from "@workqueue/core/config";
import { FILE_ENDINGS } from "../remote/queue_file.ts";
import { printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";

/** Options of {@linkcode RunConfig.open}. */
export interface RunConfigOptions {
  /** Path of the config. If omitted, the built-in config with one queue is used. */
  readonly path?: string | undefined;
  /** Name of the queue in the config. Default: the only queue, or the queue named `default`. */
  readonly queue?: string | undefined;
  /** Name of the only queue of the built-in config. Default: `default`. */
  readonly builtInQueue?: string | undefined;
  /** Queue options that override the config. */
  readonly options: QueueDocument;
  /** Queue options that apply if the config doesn't set them. */
  readonly defaults: QueueDocument;
  /** Random part of each delay, from 0 to 1, whichever limiter the queue has. If omitted, the limiter is unchanged. */
  readonly jitter?: number | undefined;
  /** Registries of limiter and discipline types, and the metrics provider of the queue. */
  readonly load: LoadConfigOptions;
}

/** Options of a queue, in the form of a config document. */
export type QueueDocument = { readonly [Option in keyof typeof queueOptions]?: unknown };

/**
 * Package that reads config files. The package is loaded only if there is a config file, because loading the parsers
 * takes time.
 */
type ConfigFiles = typeof configFile;

interface Document {
  readonly queues?: Readonly<Record<string, QueueDocument>>;
}

/** Config of a run: a config file or the built-in config, combined with the options of the command line. */
export class RunConfig {
  /** Path of the config; `undefined` for the built-in config. */
  readonly path: string | undefined;
  /** Name of the queue that the run uses. */
  readonly queueName: string;
  /** Current config. */
  readonly config: WorkQueueConfig;
  /** Whether a discipline decides which line is next. */
  readonly hasDiscipline: boolean;
  /** Text that ends the name of the group in a line; `undefined` if the discipline has no groups. */
  readonly separator: string | undefined;
  readonly #options: RunConfigOptions;
  readonly #files: ConfigFiles | undefined;
  #document: Document;
  #timeout: number | undefined;

  private constructor(document: Document, queueName: string, options: RunConfigOptions, files?: ConfigFiles) {
    this.path = options.path;
    this.queueName = queueName;
    this.#options = options;
    this.#files = files;
    this.#document = document;
    this.config = loadConfig(this.#withOptions(document), options.load);
    const { timeout, discipline } = this.config.describe(queueName);
    this.#timeout = timeout;
    this.hasDiscipline = discipline !== undefined;
    const separator = discipline?.options["separator"];
    this.separator = typeof separator === "string" ? separator : undefined;
    this.config.onReload((next) => {
      if (!next.queueNames.includes(queueName)) return undefined;
      const { timeout } = next.describe(queueName);
      return () => this.#timeout = timeout;
    });
  }

  /**
   * Loads the config of a run.
   *
   * @param options The file, the queue, and the options of the command line.
   * @returns The current config.
   * @throws {UsageError} If the file can't be read or is invalid, the queue doesn't exist, or the choice of a queue is
   * ambiguous.
   */
  static async open(options: RunConfigOptions): Promise<RunConfig> {
    const { path, queue, builtInQueue = "default", load } = options;
    try {
      if (path === undefined) {
        const builtIn: Document = { queues: { [builtInQueue]: {} } };
        if (queue !== undefined && queue !== builtInQueue) {
          throw new UsageError(
            `Cannot use queue ${JSON.stringify(queue)}: there is no config; name one with --config, or a file that ` +
              `ends in ${FILE_ENDINGS}`,
          );
        }
        return new RunConfig(builtIn, builtInQueue, options);
      }
      const files = await import("@workqueue/config-file");
      const config = files.loadConfigFile(path, load); // finds mistakes that a parsed document no longer shows
      return new RunConfig(files.readConfigFile(path), pickQueue(config, queue), options, files);
    } catch (error) {
      throw error instanceof UsageError ? error : new UsageError((error as Error).message, { cause: error });
    }
  }

  /** Current document without the queues that don't affect this run. */
  get document(): object {
    const { queues, ...others } = this.#document;
    return { ...others, queue: queues?.[this.queueName] };
  }

  /** Longest duration of an attempt, in milliseconds; `undefined` for no limit. */
  get timeout(): number | undefined {
    return this.#timeout;
  }

  /**
   * Reads the file again. Returns the file's document with the options of the command line applied.
   *
   * @throws {Error} If the file can't be read or parsed.
   */
  readDocument(): object {
    return this.#withOptions(this.#files!.readConfigFile(this.path!));
  }

  /**
   * Watches the file and applies each change.
   *
   * @param tell Called with a line of text for each change and for each problem with the file.
   * @param onReload Called after each reload.
   * @returns The watch, which ends when disposed; `undefined` if there is no file.
   */
  watch(tell: (message: string) => void, onReload: () => void): Disposable | undefined {
    if (this.path === undefined || this.#files === undefined) return undefined;
    const reload: WorkQueueConfig["reload"] = (source, options) => {
      this.config.reload(source, { dryRun: true }); // finds mistakes that a parsed document no longer shows
      const document: Document = source as object; // the watch parses the file
      const changes = this.config.reload(this.#withOptions(document), options);
      // If the file no longer contains the run's queue, the run keeps its settings.
      if (document.queues?.[this.queueName] !== undefined) this.#document = document;
      return changes;
    };
    return this.#files.watchConfigFile(this.path, { reload }, {
      onReload: (changes) => {
        for (const change of changes) tell(describe(change, this.queueName));
        if (changes.length === 0) tell("Config: read again, nothing changed.");
        if (!this.config.queueNames.includes(this.queueName)) {
          tell(`Config: queue "${this.queueName}" is gone; the run keeps its previous settings.`);
        }
        onReload();
      },
      onError: (error) => tell((error as Error).message),
    });
  }

  /** Returns the document with the options of the command line applied to the run's queue. */
  #withOptions(document: Document): Document {
    const queue = document.queues?.[this.queueName];
    if (queue === undefined) return document; // the run's queue keeps its settings
    const { options, defaults, jitter } = this.#options;
    const whole = { ...defaults, ...queue, ...options };
    const limiter = jitter === undefined ? whole.limiter : { type: "jitter", spread: jitter, limiter: whole.limiter };
    return { ...document, queues: { ...document.queues, [this.queueName]: { ...whole, limiter } } };
  }
}

/**
 * Picks a queue of a config by name. If `name` is omitted, picks the only queue or the queue named "default".
 *
 * @throws {Error} If the queue doesn't exist or the choice is ambiguous.
 */
function pickQueue(config: WorkQueueConfig, name: string | undefined): string {
  const { queueNames } = config;
  const choice = queueNames.map((queue) => `"${queue}"`).join(", ");
  if (name !== undefined) {
    try {
      config.workers(name); // throws if there is no such queue
    } catch (error) {
      const { message } = error as Error;
      const names = message.includes("; did you mean") ? "" : `; it has ${choice === "" ? "no queues" : choice}`;
      throw new UsageError(message + names, { cause: error });
    }
    return name;
  }
  if (queueNames.length === 1) return queueNames[0]!;
  if (queueNames.includes("default")) return "default";
  if (queueNames.length === 0) throw new UsageError("Cannot choose a queue: the config has no queues");
  throw new UsageError(`Cannot choose a queue: the config has ${choice}; name one with --queue`);
}

function describe({ path, old, new: now, inForce }: ConfigChange, queueName: string): string {
  const isInForce = inForce === "now" || now !== undefined && path === pointerTo("queues", queueName); // restored queue
  const when = isInForce ? "" : " (takes effect in the next run)";
  const [is, was] = [now, old].map((value) => value === undefined ? undefined : printable(JSON.stringify(value)));
  if (was === undefined) return `Config: ${path} added: ${is}${when}`;
  return `Config: ${path} ${is === undefined ? `removed, was ${was}` : `changed from ${was} to ${is}`}${when}`;
}

/** Returns the JSON Pointer to a member, given the names in its path. */
function pointerTo(...names: string[]): string {
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
