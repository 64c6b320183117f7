/** Numbers of one period of a simulation. */
export interface Step {
  arrivals: number;
  attempts: number;
  retries: number;
  failures: number;
  /** Largest number of items that had arrived and had not ended. */
  backlog: number;
  /** Longest wait of an attempt that began in the period, in milliseconds. */
  wait: number;
}

/** Numbers of a simulation over time, in steps of equal length. */
export class Timeline {
  /** Length of a step in milliseconds. */
  readonly step: number;
  readonly steps: Step[] = [];
  /** Sum of the times for which items were there, in milliseconds. */
  itemTime = 0;
  #backlog = 0;
  #changedAt = 0;

  constructor(step: number) {
    this.step = step;
  }

  /** Returns the numbers of the step to which a time belongs. */
  at(time: number): Step {
    const index = Math.floor(time / this.step);
    for (let i = this.steps.length; i <= index; i++) {
      this.steps.push({ arrivals: 0, attempts: 0, retries: 0, failures: 0, backlog: this.#backlog, wait: 0 });
    }
    return this.steps[index]!;
  }

  /** Records the number of items that have arrived and have not ended. */
  setBacklog(time: number, backlog: number): void {
    const step = this.at(time);
    this.itemTime += (time - this.#changedAt) * this.#backlog;
    this.#changedAt = time;
    this.#backlog = backlog;
    if (backlog > step.backlog) step.backlog = backlog;
  }
}
