import type * as configFile from "@workqueue/config-file";
import { type ConfigChange, loadConfig, type LoadConfigOptions, type WorkQueueConfig } from "@workqueue/core";
import type { queueOptions } from "@workqueue/core/config";
import { printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";

/** Options of {@linkcode RunConfig.open}. */
export interface RunConfigOptions {
  /** The config file. If omitted, the built-in config with one queue applies. */
  readonly path?: string | undefined;
  /** Name of the queue in the config. */
  readonly queue?: string | undefined;
  /** Options of the queue that override the config. */
  readonly options: QueueDocument;
  /** Options of the queue that apply where the config does not set them. */
  readonly defaults: QueueDocument;
  /** Random part of each delay, up to 1, whichever limiter the queue has. */
  readonly jitter?: number | undefined;
  /** Types of limiters and disciplines, and the metrics of the queue. */
  readonly load: LoadConfigOptions;
}

/** Options of a queue, in the form of a config document. */
export type QueueDocument = { readonly [Option in keyof typeof queueOptions]?: unknown };

/** The package that reads files. It is loaded only if there is one, as its parsers take time. */
type ConfigFiles = typeof configFile;

interface Document {
  readonly queues?: Readonly<Record<string, QueueDocument>>;
}

const BUILT_IN: Document = { queues: { default: {} } };

/** The config of a run: a file or the built-in config, with the options of the command line. */
export class RunConfig {
  /** The config file; `undefined` for the built-in config. */
  readonly path: string | undefined;
  /** Name of the queue that the run uses. */
  readonly queueName: string;
  /** The config in force. */
  readonly config: WorkQueueConfig;
  /** Whether a discipline decides which line is next. */
  readonly hasDiscipline: boolean;
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
   * @returns The config in force.
   * @throws {UsageError} If the file cannot be read or is invalid, or if it has several queues and none is chosen.
   */
  static async open(options: RunConfigOptions): Promise<RunConfig> {
    const { path, queue, load } = options;
    try {
      if (path === undefined) return new RunConfig(BUILT_IN, pickQueue(loadConfig(BUILT_IN, load), queue), options);
      const files = await import("@workqueue/config-file");
      const config = files.loadConfigFile(path, load); // finds more mistakes in a text than in a document
      return new RunConfig(parse(files.readConfigFile(path)), pickQueue(config, queue), options, files);
    } catch (error) {
      throw error instanceof UsageError ? error : new UsageError((error as Error).message, { cause: error });
    }
  }

  /** The part of the file in force, or of the built-in config, that concerns this run: everything but other queues. */
  get document(): object {
    const { queues, ...others } = this.#document;
    return { ...others, queue: queues?.[this.queueName] };
  }

  /** Longest time of an attempt, in milliseconds; `undefined` for no limit. */
  get timeout(): number | undefined {
    return this.#timeout;
  }

  /** Reads the file again, and returns its document with the options of the command line. */
  readDocument(): object {
    return this.#withOptions(parse(this.#files!.readConfigFile(this.path!)));
  }

  /**
   * Puts each change of the file in force.
   *
   * @param tell Called with a line for each change, and with what is wrong with the file.
   * @param onReload Called when another document is in force.
   * @returns Ends the watch; `undefined` without a file.
   */
  watch(tell: (message: string) => void, onReload: () => void): Disposable | undefined {
    if (this.path === undefined || this.#files === undefined) return undefined;
    const reload: WorkQueueConfig["reload"] = (source, options) => {
      this.config.reload(source, { dryRun: true }); // finds more mistakes in a text than in a document
      const document = parse(source);
      const changes = this.config.reload(this.#withOptions(document), options);
      if (document.queues?.[this.queueName] !== undefined) this.#document = document; // else the queue goes on as it is
      return changes;
    };
    return this.#files.watchConfigFile(this.path, { reload }, {
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

  /** Returns the document with the options of the command line in the queue of the run. */
  #withOptions(document: Document): Document {
    const queue = document.queues?.[this.queueName];
    if (queue === undefined) return document; // the run goes on as it is
    const { options, defaults, jitter } = this.#options;
    const whole = { ...defaults, ...queue, ...options };
    const limiter = jitter === undefined ? whole.limiter : { type: "jitter", spread: jitter, limiter: whole.limiter };
    return { ...document, queues: { ...document.queues, [this.queueName]: { ...whole, limiter } } };
  }
}

/** Picks a queue of a config: the one of that name; without a name, the only one or the one named "default". */
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

/** Returns a JSON Pointer. */
function pointerTo(...names: string[]): string {
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function parse(source: string | object): Document {
  return typeof source === "string" ? JSON.parse(source) : source;
}
