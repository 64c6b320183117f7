package record

import (
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// recordEqualDeadlines records items due at the same time, which come out in any order.
func recordEqualDeadlines(t *trace) {
	d := newDriver(t, workqueue.NewTypedDelayingQueue[int]())
	defer d.stop()
	d.items = t.between(2, 20)
	delays := []int{1, 2, 3, 5, 8}[:t.between(1, 5)]

	addAfter := func() {
		d.addItemAfter(d.item(), time.Duration(delays[t.IntN(len(delays))])*time.Millisecond)
	}
	takeAll := func() {
		var taken []any
		for d.queue.Len() > 0 {
			item, _ := d.queue.Get()
			d.queue.Done(item)
			taken = append(taken, item)
		}
		d.wrote(slices.Concat([]any{opTakeAll, len(taken)}, taken)...)
	}
	for range t.between(10, 60) {
		t.choose(
			choice{6, addAfter},
			choice{2, func() { d.wait(time.Duration(t.between(0, 4)) * time.Millisecond) }},
			choice{1, takeAll},
		)
	}
	d.wait(10 * time.Millisecond)
	takeAll()
}

// recordDrainWithReadyItems records a drain of a queue with items that are ready, or added again while processing.
func recordDrainWithReadyItems(t *trace) {
	d := newDriver(t, workqueue.NewTyped[int]())
	defer d.stop()
	for range t.between(3, 30) {
		t.choose(choice{3, d.add}, choice{2, d.get}, choice{1, d.doneAnyProcessing})
	}
	d.drainAnyhow()
	weight := t.Float64()
	for range t.between(5, 40) {
		t.choose(
			choice{0.1, d.add},
			choice{weight, d.get},
			choice{1 - weight, d.doneAnyProcessing},
			choice{0.02, d.shutDown},
		)
	}
}

// recordDoneOfReadyItem records calls of Done for ready items that are not processing. It adds some of them again,
// which has no effect. From then on the queues hold different items, so the rest of the trace only takes them.
func recordDoneOfReadyItem(t *trace) {
	d := newDriver(t, workqueue.NewTyped[int]())
	defer d.stop()
	for range t.between(5, 40) {
		t.choose(choice{3, d.add}, choice{2, d.get}, choice{1, d.done})
	}
	for item := range d.items {
		if d.dirty[item] && !d.isProcessing(item) && t.chance(50) {
			d.queue.Done(item)
			d.wrote(opDone, item)
			if t.chance(50) {
				d.queue.Add(item)
				d.wrote(opAdd, item)
			}
		}
	}
	d.shutDown()
	for d.queue.Len() > 0 {
		d.get()
	}
}

// recordBackoffOverflow records failures of items until the arithmetic of the exponential backoff overflows.
func recordBackoffOverflow(t *trace) {
	spec := limiterSpec{"exponential", time.Duration(0), time.Hour}
	failures := 1024
	if t.chance(60) {
		power := t.IntN(40)
		spec[1] = time.Duration(1) << power
		spec[2] = time.Duration(1) << t.between(power, 61)
		failures = 63 - power
	}
	t.write(spec)
	limiter := spec.build()

	fail := func(item, times int) {
		var delay time.Duration
		for range times {
			delay = limiter.When(item)
		}
		t.write(opFail, item, times, delay)
	}
	for item := range t.between(1, 3) {
		fail(item, failures-t.between(1, 5))
		for range t.between(5, 12) {
			fail(item, 1)
		}
		if t.chance(50) {
			limiter.Forget(item)
			t.write(opForget, item)
			fail(item, 1)
		}
	}
}
