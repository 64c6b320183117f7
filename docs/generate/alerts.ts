import {
  COUNTED_OVER,
  HOLDS_FOR,
  MAX_AGE,
  MAX_BACKLOG,
  MAX_FAILED_SHARE,
  MAX_FAILURES,
  MAX_RUN,
  MAX_SLOPE,
  SLOPE_OVER,
} from "../../packages/dashboard/watch/alert_limits.ts";

/** Returns a time in the notation of Prometheus. */
const minutes = (ms: number) => `${ms / 60_000}m`;
const seconds = (ms: number) => ms / 1000;
const slope = minutes(SLOPE_OVER);
const counted = minutes(COUNTED_OVER);
const holds = Object.fromEntries(
  Object.entries(HOLDS_FOR).map(([alert, ms]) => [alert, minutes(ms)]),
) as Readonly<Record<keyof typeof HOLDS_FOR, string>>;

/** Time for which Prometheus remembers the queues that a program had. */
const REMEMBERED = "1d";

/** Returns the rules for Prometheus, with the limits that the dashboard's verdicts use. */
export function alerts(): string {
  const guide = (alert: string) => `docs/operate/alerts.md#${alert.toLowerCase()}`;
  return `\
# Rules for Prometheus: \`rule_files: [alerts.yml]\`. The thresholds suit a queue whose items take seconds. Change them
# to values that your users would notice. \`alerts_test.yml\` shows the purpose of each rule. The page of
# @workqueue/dashboard never says "healthy" while one of these rules fires. \`docs/operate/alerts.md\` lists the exceptions.
groups:
  - name: workqueue
    rules:
      - alert: WorkqueueBacklogGrows
        # Delayed items count only while attempts fail. Otherwise they are scheduled, and aren't a backlog.
        expr: |
          (
            sum by (name) (workqueue_depth) > ${MAX_BACKLOG}
            and sum by (name) (deriv(workqueue_depth[${slope}])) > ${MAX_SLOPE}
          )
          or
          (
            sum by (name) (workqueue_delayed) > ${MAX_BACKLOG}
            and sum by (name) (deriv(workqueue_delayed[${slope}])) > ${MAX_SLOPE}
            and sum by (name) (rate(workqueue_failures_total[${slope}])) > ${MAX_FAILURES}
          )
        for: ${holds.WorkqueueBacklogGrows}
        labels:
          severity: warning
        annotations:
          summary: The backlog of {{ $labels.name }} is growing and has {{ $value | humanize }} items
          description: >-
            Check whether most of the items are ready or delayed. Ready: there are too few workers, or they are too slow.
            Raise \`concurrency\`, or the rate of the \`throttle\` if it slows the workers. Delayed: attempts fail.
          runbook: ${guide("WorkqueueBacklogGrows")}

      - alert: WorkqueueOldestTooOld
        expr: max by (name) (workqueue_oldest_ready_seconds) > ${seconds(MAX_AGE)}
        for: ${holds.WorkqueueOldestTooOld}
        labels:
          severity: warning
        annotations:
          summary: An item of {{ $labels.name }} has been ready for {{ $value | humanizeDuration }}
          description: >-
            Check whether all workers are busy. If they are, raise \`concurrency\`, or give urgent items a priority. If they
            are not, the pool is paused, or its \`throttle\` gives no tokens: resume it, or raise the rate.
          runbook: ${guide("WorkqueueOldestTooOld")}

      - alert: WorkqueueRetryStorm
        expr: |
          sum by (name) (rate(workqueue_failures_total[${counted}]))
            / sum by (name) (rate(workqueue_work_duration_seconds_count[${counted}])) > ${MAX_FAILED_SHARE}
          and sum by (name) (rate(workqueue_failures_total[${counted}])) > ${MAX_FAILURES}
        for: ${holds.WorkqueueRetryStorm}
        labels:
          severity: warning
        annotations:
          summary: "{{ $value | humanizePercentage }} of the attempts of {{ $labels.name }} fail"
          description: >-
            Check the errors of the handlers in \`pool.snapshot().failingItems\`. If a backend is down, pause the bucket of
            the \`throttle\`, which stops attempts now, and lower its rate before the backend is back. A change of the limiter
            affects only later failures.
          runbook: ${guide("WorkqueueRetryStorm")}

      - alert: WorkqueueHandlerStuck
        expr: max by (name) (workqueue_longest_running_processor_seconds) > ${seconds(MAX_RUN)}
        for: ${holds.WorkqueueHandlerStuck}
        labels:
          severity: warning
        annotations:
          summary: An item of {{ $labels.name }} has been processing for {{ $value | humanizeDuration }}
          description: >-
            Check which item it is in \`pool.snapshot().runningItems\`. Meanwhile, no other worker gets that item, and its
            worker gets no other item. Give the queue a \`timeout\`, and make the handler stop when its \`signal\` aborts.
          runbook: ${guide("WorkqueueHandlerStuck")}

      - alert: WorkqueueNothingTaken
        # The depth also counts items that were added again while processing. These items aren't ready yet.
        expr: |
          sum by (name) (workqueue_depth) > 0
          and max by (name) (workqueue_oldest_ready_seconds) > 0
          and sum by (name) (rate(workqueue_queue_duration_seconds_count[${counted}])) == 0
          unless sum by (name) (workqueue_active) >= sum by (name) (workqueue_concurrency) > 0
        for: ${holds.WorkqueueNothingTaken}
        labels:
          severity: critical
        annotations:
          summary: No worker takes the {{ $value | humanize }} ready items of {{ $labels.name }}
          description: >-
            Nothing has been handed out for ten minutes, although workers are free or there are none. Check whether the pool
            runs: it may be paused, or stopped, or its \`throttle\` may be paused. Resume the pool or the throttle, or start a
            pool.
          runbook: ${guide("WorkqueueNothingTaken")}

      # The following rules need no name of a job: they know from the last day which programs had queues.
      - alert: WorkqueueProgramDown
        expr: |
          up == 0
          and on (job, instance) (
            present_over_time(workqueue_depth[${REMEMBERED}]) or present_over_time(workqueue_concurrency[${REMEMBERED}])
          )
        for: 5m
        labels:
          severity: warning
        annotations:
          summary: Program {{ $labels.job }} at {{ $labels.instance }} can't be scraped
          description: >-
            Check whether the program runs, and whether it hangs. Its queues have no metrics, so the other rules can't fire.
          runbook: ${guide("WorkqueueProgramDown")}

      - alert: WorkqueueGone
        expr: |
          group by (name) (present_over_time(workqueue_depth[${REMEMBERED}]))
          unless group by (name) (workqueue_depth)
          unless group by (name) (present_over_time(workqueue_depth[${REMEMBERED}]) and on (job, instance) up == 1)
        for: 5m
        labels:
          severity: critical
        annotations:
          summary: No program has the queue {{ $labels.name }} any more
          description: >-
            Check whether the program that had the queue runs, and whether Prometheus still finds it. A queue that a running
            program has shut down isn't reported.
          runbook: ${guide("WorkqueueGone")}

      - alert: WorkqueueMetricsMissing
        # Replace this rule with one for each queue that must always exist: absent(workqueue_depth{name="orders"}).
        expr: absent(workqueue_depth)
        for: 10m
        labels:
          severity: critical
        annotations:
          summary: Prometheus has no metrics of any queue
          description: >-
            Check the targets of Prometheus: no program with a queue is scraped.
          runbook: ${guide("WorkqueueMetricsMissing")}
`;
}
