package record

import (
	"math"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// metrics is a provider that stores the metrics of one queue.
type metrics struct {
	depth, adds, retries    count
	unfinished, longest     gauge
	latencies, workDuration observations
}

func (m *metrics) NewDepthMetric(string) workqueue.GaugeMetric            { return &m.depth }
func (m *metrics) NewAddsMetric(string) workqueue.CounterMetric           { return &m.adds }
func (m *metrics) NewLatencyMetric(string) workqueue.HistogramMetric      { return &m.latencies }
func (m *metrics) NewWorkDurationMetric(string) workqueue.HistogramMetric { return &m.workDuration }
func (m *metrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &m.unfinished
}
func (m *metrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &m.longest
}
func (m *metrics) NewRetriesMetric(string) workqueue.CounterMetric { return &m.retries }

type count int

func (c *count) Inc() { *c++ }
func (c *count) Dec() { *c-- }

type gauge time.Duration

func (g *gauge) Set(seconds float64) { *g = gauge(fromSeconds(seconds)) }

type observations []time.Duration

func (o *observations) Observe(seconds float64) { *o = append(*o, fromSeconds(seconds)) }

// fromSeconds converts seconds to whole nanoseconds. All times in the tests are whole nanoseconds, but the last bits of
// a sum of seconds depend on the order in which client-go iterates over a map.
func fromSeconds(seconds float64) time.Duration { return time.Duration(math.Round(seconds * 1e9)) }

// take writes the number of observations since the last call, then the observations.
func (o *observations) take(t *trace) {
	t.write(len(*o))
	for _, observed := range *o {
		t.write(observed)
	}
	*o = nil
}

// write writes the values and the observations since the last call.
func (m *metrics) write(t *trace) {
	t.write(int(m.depth), int(m.adds), int(m.retries))
	t.write(time.Duration(m.unfinished), time.Duration(m.longest))
	m.latencies.take(t)
	m.workDuration.take(t)
}

func recordMetrics(t *trace) {
	metrics := &metrics{}
	d := newDriver(t, workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[int]{
		Name:            "measured",
		MetricsProvider: metrics,
	}))
	defer d.stop()
	d.after = func() { metrics.write(t) }
	d.run(
		t.between(40, 120),
		choice{0.2, func() { d.addAfter(d.someTime()) }},
		choice{0.2, func() { d.wait(d.someTime()) }},
		choice{0.2, func() { d.wait(time.Duration(t.between(0, 4)) * 250 * time.Millisecond) }},
		choice{0.1, d.waitForNext},
	)
}
