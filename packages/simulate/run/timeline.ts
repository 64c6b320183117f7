/** Numbers of one period of a simulation. */
export interface Step {
  arrivals: number;
  attempts: number;
  retries: number;
  failures: number;
  successes: number;
  /** Largest number of items that had arrived and had not ended. */
  backlog: number;
  /** Longest wait of an attempt that began in the period, in milliseconds. */
  wait: number;
}

/** Number of steps into which the load's duration is divided. */
const STEPS = 120;

/** Largest number of steps: enough for twice the duration, and the end itself. */
const MAX_STEPS = 2 * STEPS + 1;

/** Numbers of a simulation over time, in steps of equal length. */
export class Timeline {
  /** Length of a step in milliseconds. The length doubles when a simulation lasts longer than twice the load. */
  step: number;
  steps: Step[] = [];
  /** Sum of the times for which items were there, in milliseconds. */
  itemTime = 0;
  /** Second in which most attempts began: its beginning in milliseconds, and their number. */
  busiest = { at: 0, value: 0 };
  #second = 0;
  #inSecond = 0;
  #backlog = 0;
  #changedAt = 0;

  /** Begins a timeline for a load of a duration in milliseconds. */
  constructor(duration: number) {
    this.step = duration / STEPS;
  }

  /** Returns the numbers of the step to which a time belongs. */
  at(time: number): Step {
    while (time / this.step >= MAX_STEPS) this.#doubleStep();
    const index = Math.floor(time / this.step);
    for (let i = this.steps.length; i <= index; i++) {
      this.steps.push({
        arrivals: 0,
        attempts: 0,
        retries: 0,
        failures: 0,
        successes: 0,
        backlog: this.#backlog,
        wait: 0,
      });
    }
    return this.steps[index]!;
  }

  /** Records an attempt that begins. Times must not decrease. */
  begin(time: number, isRetry: boolean): Step {
    const step = this.at(time);
    step.attempts++;
    if (isRetry) step.retries++;
    const second = Math.floor(time / 1000);
    if (second !== this.#second) this.#inSecond = 0;
    this.#second = second;
    this.#inSecond++;
    if (this.#inSecond > this.busiest.value) this.busiest = { at: 1000 * second, value: this.#inSecond };
    return step;
  }

  /** Records the number of items that have arrived and have not ended. */
  setBacklog(time: number, backlog: number): void {
    const step = this.at(time);
    this.itemTime += (time - this.#changedAt) * this.#backlog;
    this.#changedAt = time;
    this.#backlog = backlog;
    if (backlog > step.backlog) step.backlog = backlog;
  }

  #doubleStep(): void {
    this.step *= 2;
    const steps: Step[] = [];
    for (let i = 0; i < this.steps.length; i += 2) steps.push(merge(this.steps[i]!, this.steps[i + 1]));
    this.steps = steps;
  }
}

function merge(one: Step, other: Step | undefined): Step {
  if (other === undefined) return one;
  return {
    arrivals: one.arrivals + other.arrivals,
    attempts: one.attempts + other.attempts,
    retries: one.retries + other.retries,
    failures: one.failures + other.failures,
    successes: one.successes + other.successes,
    backlog: Math.max(one.backlog, other.backlog),
    wait: Math.max(one.wait, other.wait),
  };
}
