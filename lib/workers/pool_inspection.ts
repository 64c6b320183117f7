import { inspect } from "../base/errors.ts";
import { formatNumber, setInspection, titleOf } from "../base/inspection.ts";
import { type Failure, MAX_FAILURES } from "./failures.ts";

/** What is said of a pool where it is printed. */
export interface PoolView {
  readonly queue: string;
  readonly active: number;
  readonly abandoned: number;
  readonly concurrency: number;
  readonly state: string;
  /** The latest first. */
  failing(): readonly Failure<unknown>[];
}

/** Has consoles print the pools of a class by what `view` shows of them. */
export function setPoolInspection<P extends object>(prototype: P, view: (pool: P) => PoolView): void {
  const title = (queue: string) => titleOf(queue === "" ? "WorkerPool" : "WorkerPool of", queue);
  setInspection(prototype, (pool) => title(view(pool).queue), (pool) => describe(view(pool)));
}

function describe({ active, abandoned, concurrency, state, ...view }: PoolView): string {
  const parts = [`${formatNumber(active)} of ${formatNumber(concurrency)} handlers running`];
  if (abandoned > 0) parts.push(`${formatNumber(abandoned)} of them out of time`);
  if (state !== "") parts.push(state);
  const failing = view.failing();
  const [latest] = failing;
  if (latest !== undefined) {
    const many = formatNumber(failing.length) + (failing.length === MAX_FAILURES ? " or more" : "");
    const keys = failing.length === 1 ? "1 key" : `${many} keys`;
    parts.push(`${keys} failing (latest: ${inspect(latest.key)}, attempt ${latest.attempts}: ${latest.error})`);
  }
  return parts.join(", ");
}
