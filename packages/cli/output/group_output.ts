import type { ChildOutput } from "../children/child.ts";
import type { OutputSink } from "../children/child_output.ts";
import {
  errorWriter,
  lineWriter,
  type OutputContext,
  type OutputItem,
  type OutputSettings,
  type RunOutput,
} from "./run_output.ts";
import { Spool, SpoolStorage } from "./spool.ts";

/** Largest number of items, from the first unprinted item on, when output is printed in input order. */
const MAX_UNPRINTED = 10_000;
/** Time for which output is still printed after all commands of a killed run have ended, in milliseconds. */
const PRINT_GRACE = 2000;

/** Output of an item that is not printed yet. */
interface Group {
  readonly item: OutputItem;
  /** Standard output of the last attempt. */
  stdout: Spool | undefined;
  /** Standard error of the last attempt. */
  stderr: Spool | undefined;
  /** Callback of the ended item; `undefined` while the item has not ended. */
  onPrinted: (() => void) | undefined;
  /** Group of the next item of the input. */
  next: Group | undefined;
}

/**
 * Prints all output of an item's last attempt at once, standard output first. Groups are printed in the order in which
 * items end, or in input order. In input order, a group is printed when all items before it have ended.
 */
export class GroupOutput implements RunOutput {
  readonly #settings: OutputSettings;
  readonly #context: OutputContext;
  readonly #keepsOrder: boolean;
  readonly #groups = new Map<OutputItem, Group>();
  /** First group that is not printed or being printed, if output is printed in input order. */
  #first: Group | undefined = undefined;
  /** Group of the item that was added last. */
  #last: Group | undefined = undefined;
  #idle: Promise<void> = Promise.resolve();
  /** Number of groups that are being printed or will be printed next. */
  #printing = 0;
  readonly #storage = new SpoolStorage();
  /** Aborts some time after the run was killed, because the reader of the output might never read it. */
  readonly #expired = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** Creates the output. */
  constructor(settings: OutputSettings, context: OutputContext, keepsOrder: boolean) {
    this.#settings = settings;
    this.#context = context;
    this.#keepsOrder = keepsOrder;
  }

  get isFull(): boolean {
    return this.#keepsOrder && this.#groups.size >= MAX_UNPRINTED;
  }

  get isPrinting(): boolean {
    return this.#printing > 0;
  }

  get idle(): Promise<void> {
    return this.#idle;
  }

  add(item: OutputItem): void {
    const group: Group = { item, stdout: undefined, stderr: undefined, onPrinted: undefined, next: undefined };
    this.#groups.set(item, group);
    if (!this.#keepsOrder) return;
    if (this.#last !== undefined) this.#last.next = group;
    this.#last = group;
    this.#first ??= group;
  }

  begin(item: OutputItem): ChildOutput {
    const { stderr } = this.#settings;
    const { killed, onFailure } = this.#context;
    const group = this.#groups.get(item)!;
    free(group);
    group.stdout = new Spool(this.#storage);
    if (stderr === "pass") group.stderr = new Spool(this.#storage);
    const live = stderr === "live" ? errorWriter(item.line.text, this.#settings, killed) : undefined;
    return { stdout: group.stdout, stderr: group.stderr ?? live, onFailure };
  }

  discard(item: OutputItem): void {
    free(this.#groups.get(item)!);
  }

  end(item: OutputItem, onPrinted: () => void): void {
    const group = this.#groups.get(item)!;
    group.onPrinted = onPrinted;
    if (!this.#keepsOrder) return this.#print(group);
    for (; this.#first?.onPrinted !== undefined; this.#first = this.#first.next) this.#print(this.#first);
    if (this.#first === undefined) this.#last = undefined;
  }

  /** Prints the output of all ended items in input order, even if some items before them have not ended. */
  async finish(): Promise<void> {
    const { killed } = this.#context;
    const expireLater = () => this.#timer = setTimeout(() => this.#expired.abort(), PRINT_GRACE);
    if (killed.aborted) expireLater();
    else killed.addEventListener("abort", expireLater);
    for (; this.#first !== undefined; this.#first = this.#first.next) {
      if (this.#first.onPrinted !== undefined) this.#print(this.#first);
    }
    await this.#idle;
    killed.removeEventListener("abort", expireLater);
    clearTimeout(this.#timer);
    this.#storage[Symbol.dispose]();
  }

  /** Prints a group after all groups that are being printed. */
  #print(group: Group): void {
    this.#printing++;
    this.#idle = this.#idle.then(() => this.#printNow(group)).finally(() => this.#printing--);
  }

  async #printNow(group: Group): Promise<void> {
    const { item: { line: { text } }, stdout, stderr } = group;
    const { signal } = this.#expired;
    if (signal.aborted) return;
    try {
      if (stdout !== undefined) await copy(stdout, lineWriter(text, this.#settings, signal));
      if (stderr !== undefined) await copy(stderr, errorWriter(text, this.#settings, signal));
    } catch (error) {
      return this.#context.onFailure(error);
    }
    free(group);
    this.#groups.delete(group.item);
    group.onPrinted!();
  }
}

function free(group: Group): void {
  group.stdout?.free();
  group.stderr?.free();
  group.stdout = group.stderr = undefined;
}

async function copy(spool: Spool, sink: OutputSink): Promise<void> {
  for (const chunk of spool.chunks()) await sink.write(chunk);
  await sink.end();
}
