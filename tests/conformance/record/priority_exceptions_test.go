package record

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	runtimemetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// takeAll takes all ready items and ends them. No item may be processing.
func (d *priorityDriver) takeAll() {
	var taken []any
	for d.queue.Len() > 0 {
		item, priority, _ := d.queue.GetWithPriority()
		d.queue.Done(item)
		delete(d.records, item)
		taken = append(taken, item, priority)
	}
	d.wrote(slices.Concat([]any{opTakeAll, len(taken) / 2}, taken)...)
}

// recordPriorityReadds records items that are added again while processing. From then on, nothing is taken until all of
// them are done.
func recordPriorityReadds(t *trace) {
	d := newPriorityDriver(t)
	defer d.stop()
	mayReadd := func(item int, next record) bool {
		last, known := d.records[item]
		isPromoted := known && last.due > 0 && next.due == 0 && next.place < d.place
		return !isPromoted && (d.isProcessing(item) || d.agrees(item, next))
	}
	readd := func(delay time.Duration) {
		if len(d.processing) > 0 {
			d.addIf(mayReadd, d.processing[d.IntN(len(d.processing))], d.priority(), delay)
		}
	}
	for range t.between(2, 5) {
		d.operate(t.between(5, 25), append(d.delays(), choice{1, d.get})...)
		for range t.between(3, 15) {
			t.choose(
				choice{2, func() { readd(0) }},
				choice{0.5, func() { readd(d.units(1, 8)) }},
				choice{1, func() { d.addIf(mayReadd, d.item(), d.priority(), 0) }},
				choice{1, d.doneAnyProcessing},
				choice{0.5, func() { d.waitAnyhow(d.units(0, 8)) }},
			)
		}
		for len(d.processing) > 0 {
			d.doneAnyProcessing()
		}
		d.takeAll()
		if d.isOver {
			return
		}
	}
}

// recordPriorityPromotions records delayed items that are added without a delay or with a higher priority, among others
// that are ready or due at the same time.
func recordPriorityPromotions(t *trace) {
	d := newPriorityDriver(t)
	defer d.stop()
	d.items = t.between(2, 20)
	always := func(int, record) bool { return true }
	for range t.between(20, 80) {
		t.choose(
			choice{2, func() { d.addIf(always, d.item(), d.priority(), 0) }},
			choice{3, func() { d.addIf(always, d.item(), d.priority(), d.units(1, 5)) }},
			choice{0.8, func() { d.waitAnyhow(d.units(0, 4)) }},
			choice{0.5, d.takeAll},
		)
	}
	d.waitAnyhow(d.units(5, 5))
	d.takeAll()
}

// recordPriorityShutdown records a shutdown or drain while items are ready, and further shutdowns.
func recordPriorityShutdown(t *trace) {
	d := newPriorityDriver(t)
	defer d.stop()
	d.operate(t.between(10, 60), append(d.delays(), choice{1, d.add})...)
	if d.isOver {
		return
	}
	if t.chance(50) {
		d.shutDown()
	} else {
		d.drainAnyhow()
	}
	for range t.between(5, 25) {
		t.choose(
			choice{0.3, d.add},
			choice{0.3, d.addAfter},
			choice{2, d.get},
			choice{1, d.doneAnyProcessing},
			choice{0.3, func() { d.wait(d.units(0, 8)) }},
			choice{0.2, d.shutDownAgain},
		)
	}
}

// shutDownAgain shuts down and writes whether that panics.
func (d *priorityDriver) shutDownAgain() {
	panics := func() (panics bool) {
		defer func() { panics = recover() != nil }()
		d.queue.ShutDown()
		return
	}()
	d.wrote(opShutDownAgain, panics)
}

// gaugedQueues counts the queues with gauges by priority, to give them unique names.
var gaugedQueues atomic.Int64

// recordPriorityGauges records so many priorities that some have no gauge.
func recordPriorityGauges(t *trace) {
	name := fmt.Sprint("gauged ", gaugedQueues.Add(1))
	d := newNamedPriorityDriver(t, name, nil)
	defer d.stop()
	d.levels = make([]int, t.between(20, 60))
	for i := range d.levels {
		d.levels[i] = t.between(-100, 100)
	}
	d.items = t.between(10, 40)
	for range t.between(2, 4) {
		d.operate(t.between(20, 50), choice{1, d.add}, choice{1, d.add}, choice{0.3, d.addAfter})
		d.wroteDepths(name)
		for d.hasNext() {
			d.get()
		}
		d.wroteDepths(name)
	}
}

// wroteDepths writes the gauges of a queue: the gauge shared by priorities without their own, then the number of other
// gauges that are not zero, then each of these.
func (d *priorityDriver) wroteDepths(name string) {
	families, err := runtimemetrics.Registry.Gather()
	if err != nil {
		panic(err)
	}
	common := 0
	depths := map[int]int{}
	for _, family := range families {
		if family.GetName() != runtimemetrics.WorkQueueSubsystem+"_"+runtimemetrics.DepthKey {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["name"] != name {
				continue
			}
			depth := int(metric.GetGauge().GetValue())
			if priority, err := strconv.Atoi(labels["priority"]); err != nil {
				common = depth
			} else if depth != 0 {
				depths[priority] = depth
			}
		}
	}
	values := []any{opDepths, common, len(depths)}
	for priority := -100; priority <= 100; priority++ {
		if depth, has := depths[priority]; has {
			values = append(values, priority, depth)
		}
	}
	d.wrote(values...)
}
