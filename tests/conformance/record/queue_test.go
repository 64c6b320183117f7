package record

import (
	"math"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Shutdown status, written after each operation on a queue.
const (
	statusOpen = iota
	statusShutDown
	statusDraining
	statusDrained
)

// A driver performs operations on a queue and writes down the results.
//
// It tracks which items are ready, processing and delayed, only to decide what to do next. It writes none of this.
type driver struct {
	*trace
	queue   workqueue.TypedInterface[int]
	items   int
	started time.Time
	// processing has the processing items, in the order handed out.
	processing []int
	// dirty has the items that are ready, or added again while processing.
	dirty map[int]bool
	// delayed has the delayed items, with their deadlines as time since the start.
	delayed map[int]time.Duration
	// isShutDown reports whether ShutDown was called.
	isShutDown bool
	// drained reports whether the last ShutDownWithDrain has returned; nil before the first.
	drained *atomic.Bool
	// after is called after each operation and writes additional values.
	after func()
}

func newDriver(t *trace, queue workqueue.TypedInterface[int]) *driver {
	return &driver{
		trace:   t,
		queue:   queue,
		items:   t.between(1, 12),
		started: time.Now(),
		dirty:   map[int]bool{},
		delayed: map[int]time.Duration{},
		after:   func() {},
	}
}

// stop ends the goroutines of the queue, which the bubble waits for.
func (d *driver) stop() {
	d.queue.ShutDown()
	synctest.Wait()
}

func (d *driver) now() time.Duration { return time.Since(d.started) }

func (d *driver) item() int { return d.IntN(d.items) }

func (d *driver) isProcessing(item int) bool {
	for _, processing := range d.processing {
		if processing == item {
			return true
		}
	}
	return false
}

// wrote ends an operation. It waits until the queue's goroutines are idle, then writes the queue's state.
func (d *driver) wrote(values ...any) {
	synctest.Wait()
	d.write(values...)
	d.write(d.queue.Len(), d.status())
	d.after()
}

func (d *driver) status() int {
	switch {
	case !d.queue.ShuttingDown():
		return statusOpen
	case d.drained == nil:
		return statusShutDown
	case !d.drained.Load():
		return statusDraining
	default:
		return statusDrained
	}
}

// becameDirty notes that an item was added.
func (d *driver) becameDirty(item int) {
	if !d.queue.ShuttingDown() {
		d.dirty[item] = true
	}
}

func (d *driver) add() {
	item := d.item()
	d.queue.Add(item)
	d.becameDirty(item)
	d.wrote(opAdd, item)
}

// get takes an item or notes the shutdown. It does nothing if Get would block.
func (d *driver) get() {
	if d.queue.Len() == 0 && !d.queue.ShuttingDown() {
		return
	}
	item, shutdown := d.queue.Get()
	if shutdown {
		d.wrote(opGet, -1)
		return
	}
	d.processing = append(d.processing, item)
	delete(d.dirty, item)
	d.wrote(opGet, item)
}

// done calls Done for a random processing item.
func (d *driver) done() {
	if len(d.processing) == 0 {
		return
	}
	if len(d.processing) == 1 && d.queue.Len() > 0 && d.status() == statusDraining {
		d.get() // otherwise client-go would end the drain with items ready; see drain-with-ready-items
		return
	}
	d.doneAnyProcessing()
}

func (d *driver) doneAnyProcessing() {
	if len(d.processing) == 0 {
		return
	}
	i := d.IntN(len(d.processing))
	item := d.processing[i]
	d.processing = append(d.processing[:i], d.processing[i+1:]...)
	d.queue.Done(item)
	d.wrote(opDone, item)
}

// doneOfNotProcessing calls Done for an item that is not processing. It skips ready items; see done-of-ready-item.
func (d *driver) doneOfNotProcessing() {
	item := d.item()
	if d.isProcessing(item) || d.dirty[item] {
		return
	}
	d.queue.Done(item)
	d.wrote(opDone, item)
}

func (d *driver) shutDown() {
	d.queue.ShutDown()
	d.isShutDown = true
	d.wrote(opShutDown)
}

// drain calls ShutDownWithDrain if both queues agree on when it returns: no item is ready or processing, or some are
// processing and none of them was added again. A delaying queue obeys only its first shutdown, so it must not drain
// after one.
func (d *driver) drain() {
	if _, delays := d.queue.(workqueue.TypedDelayingInterface[int]); delays && d.isShutDown {
		return
	}
	if len(d.processing) == 0 && d.queue.Len() > 0 {
		return
	}
	for _, item := range d.processing {
		if d.dirty[item] {
			return
		}
	}
	d.drainAnyhow()
}

func (d *driver) drainAnyhow() {
	if d.status() == statusDraining {
		return
	}
	drained := new(atomic.Bool)
	d.drained = drained
	go func() {
		d.queue.ShutDownWithDrain()
		drained.Store(true)
	}()
	d.wrote(opDrain)
}

// addAfter adds a random item after a delay, unless another item is due at the same time.
func (d *driver) addAfter(delay time.Duration) {
	item := d.item()
	if delay > 0 && d.isTaken(item, d.now()+delay) {
		return
	}
	d.addItemAfter(item, delay)
}

func (d *driver) addItemAfter(item int, delay time.Duration) {
	d.queue.(workqueue.TypedDelayingInterface[int]).AddAfter(item, delay)
	d.willBeDirty(item, delay)
	d.wrote(opAddAfter, item, delay)
}

// willBeDirty notes that an item was added after a delay.
func (d *driver) willBeDirty(item int, delay time.Duration) {
	if delay <= 0 {
		d.becameDirty(item)
		return
	}
	due := d.now() + min(delay, math.MaxInt64-d.now())
	if earlier, waits := d.delayed[item]; !waits || due < earlier {
		d.delayed[item] = due
	}
}

// isTaken reports whether another item is due at that time.
func (d *driver) isTaken(item int, due time.Duration) bool {
	for other, otherDue := range d.delayed {
		if other != item && otherDue == due {
			return true
		}
	}
	return false
}

// untie makes an item due earlier if another item is due at the same time.
func (d *driver) untie(item int) {
	for d.delayed[item] > 0 && d.isTaken(item, d.delayed[item]) {
		left := min(d.delayed[item]-d.now(), time.Minute)
		d.addItemAfter(item, time.Duration(d.Int64N(int64(left))))
	}
}

// wait lets a whole number of milliseconds pass.
func (d *driver) wait(duration time.Duration) {
	time.Sleep(duration)
	now := d.now()
	for item, due := range d.delayed {
		if due <= now {
			delete(d.delayed, item)
			d.becameDirty(item)
		}
	}
	d.wrote(opWait, duration)
}

// waitForNext waits until the first delayed item is due, or sometimes a millisecond less.
func (d *driver) waitForNext() {
	const tooLong = 2 * time.Hour
	left := tooLong
	for _, due := range d.delayed {
		left = min(left, due-d.now())
	}
	if left == tooLong {
		return
	}
	whole := (left + time.Millisecond - 1).Truncate(time.Millisecond)
	if d.chance(20) {
		whole -= time.Millisecond
	}
	d.wait(whole)
}

// someTime returns a duration for waits and delays: usually milliseconds, sometimes longer than client-go's heartbeat
// of 10 s.
func (d *driver) someTime() time.Duration {
	switch {
	case d.chance(80):
		return time.Duration(d.between(0, 40)) * time.Millisecond
	case d.chance(98):
		return d.duration(time.Millisecond, 30*time.Second)
	default:
		return d.duration(time.Second, time.Hour)
	}
}

// someDelay returns a duration like someTime, a negative one, or one that isn't a whole number of milliseconds.
func (d *driver) someDelay() time.Duration {
	switch {
	case d.chance(4):
		return -d.someTime()
	case d.chance(30):
		return time.Duration(d.Int64N(int64(50 * time.Millisecond)))
	default:
		return d.someTime()
	}
}

// run performs this many operations, from choices and the basic ones. It then performs a few more, which may also
// shut down or drain the queue.
func (d *driver) run(operations int, choices ...choice) {
	basics := []choice{
		{d.Float64() + 0.1, d.add},
		{d.Float64() + 0.1, d.get},
		{d.Float64() + 0.1, d.done},
		{0.05, d.doneOfNotProcessing},
	}
	for range operations {
		d.choose(append(choices, basics...)...)
	}
	end := d.drain
	if d.chance(50) {
		end = d.shutDown
	}
	for range d.IntN(20) {
		d.choose(append(choices, append(basics, choice{0.3, end}, choice{0.03, d.shutDown})...)...)
	}
}

func recordFIFO(t *trace) {
	d := newDriver(t, workqueue.NewTyped[int]())
	defer d.stop()
	d.run(t.between(40, 160))
}

func recordDelaying(t *trace) {
	d := newDriver(t, workqueue.NewTypedDelayingQueue[int]())
	defer d.stop()
	d.run(
		t.between(40, 160),
		choice{t.Float64() + 0.3, func() { d.addAfter(d.someDelay()) }},
		choice{t.Float64() / 2, func() { d.wait(d.someTime()) }},
		choice{t.Float64() / 2, d.waitForNext},
	)
}

// A listener is a limiter that remembers its last delay.
type listener struct {
	workqueue.TypedRateLimiter[int]
	delay time.Duration
}

func (l *listener) When(item int) time.Duration {
	l.delay = l.TypedRateLimiter.When(item)
	return l.delay
}

func recordRateLimiting(t *trace) {
	spec := t.queueLimiter()
	t.write(spec)
	limiter := &listener{TypedRateLimiter: spec.build()}
	queue := workqueue.NewTypedRateLimitingQueue(limiter)
	d := newDriver(t, queue)
	defer d.stop()

	addRateLimited := func() {
		item := d.item()
		queue.AddRateLimited(item)
		d.willBeDirty(item, limiter.delay)
		d.wrote(opAddRateLimited, item, limiter.delay)
		d.untie(item)
	}
	forget := func() {
		item := d.item()
		queue.Forget(item)
		d.wrote(opForget, item)
	}
	numRequeues := func() {
		item := d.item()
		d.wrote(opNumRequeues, item, queue.NumRequeues(item))
	}
	d.run(
		t.between(40, 160),
		choice{t.Float64() + 0.5, addRateLimited},
		choice{0.2, forget},
		choice{0.2, numRequeues},
		choice{0.1, func() { d.addAfter(d.someDelay()) }},
		choice{t.Float64() / 2, func() { d.wait(d.someTime()) }},
		choice{t.Float64() / 2, d.waitForNext},
	)
}
