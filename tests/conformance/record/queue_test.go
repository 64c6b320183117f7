package record

import (
	"math"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// What shutting down has come to. It is written after each operation on a queue.
const (
	statusOpen = iota
	statusShutDown
	statusDraining
	statusDrained
)

// A driver performs operations on a queue and writes down what came of them.
//
// It knows which items are ready, held and waiting. That decides only what is done next: nothing of it is
// written.
type driver struct {
	*trace
	queue   workqueue.TypedInterface[int]
	items   int
	started time.Time
	// held is what was handed out and not given back, in that order.
	held []int
	// dirty has the items that are ready, or held and added again.
	dirty map[int]bool
	// waiting has when each waiting item is due, in time since the start.
	waiting map[int]time.Duration
	// isShutDown tells whether ShutDown was called.
	isShutDown bool
	// drained says whether the last ShutDownWithDrain has returned; nil before the first.
	drained *atomic.Bool
	// after writes what else there is to know after each operation.
	after func()
}

func newDriver(t *trace, queue workqueue.TypedInterface[int]) *driver {
	return &driver{
		trace:   t,
		queue:   queue,
		items:   t.between(1, 12),
		started: time.Now(),
		dirty:   map[int]bool{},
		waiting: map[int]time.Duration{},
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

func (d *driver) isHeld(item int) bool {
	for _, held := range d.held {
		if held == item {
			return true
		}
	}
	return false
}

// wrote ends an operation: it lets the queue's goroutines come to rest and writes the state they leave.
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

// get takes an item, or learns of the shutdown. An open queue with nothing ready would block.
func (d *driver) get() {
	if d.queue.Len() == 0 && !d.queue.ShuttingDown() {
		return
	}
	item, shutdown := d.queue.Get()
	if shutdown {
		d.wrote(opGet, -1)
		return
	}
	d.held = append(d.held, item)
	delete(d.dirty, item)
	d.wrote(opGet, item)
}

// done gives back any of the held items.
func (d *driver) done() {
	if len(d.held) == 0 {
		return
	}
	if len(d.held) == 1 && d.queue.Len() > 0 && d.status() == statusDraining {
		d.get() // else client-go would call it drained with items ready; that has a family of its own
		return
	}
	d.doneAnyHeld()
}

func (d *driver) doneAnyHeld() {
	if len(d.held) == 0 {
		return
	}
	i := d.IntN(len(d.held))
	item := d.held[i]
	d.held = append(d.held[:i], d.held[i+1:]...)
	d.queue.Done(item)
	d.wrote(opDone, item)
}

// doneUnheld says that an item is done which nobody holds. It must not be ready: see the family for that.
func (d *driver) doneUnheld() {
	item := d.item()
	if d.isHeld(item) || d.dirty[item] {
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

// drain calls ShutDownWithDrain where client-go and we agree on when it returns: at rest, or with items held
// of which none was added again. A delaying queue heeds ShutDown but once, and so must not drain after it.
func (d *driver) drain() {
	if _, delays := d.queue.(workqueue.TypedDelayingInterface[int]); delays && d.isShutDown {
		return
	}
	if len(d.held) == 0 && d.queue.Len() > 0 {
		return
	}
	for _, item := range d.held {
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

// addAfter adds an item after a delay that makes no two items due at once.
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
	if earlier, waits := d.waiting[item]; !waits || due < earlier {
		d.waiting[item] = due
	}
}

// isTaken tells whether another item is due at that time.
func (d *driver) isTaken(item int, due time.Duration) bool {
	for other, otherDue := range d.waiting {
		if other != item && otherDue == due {
			return true
		}
	}
	return false
}

// untie makes an item due earlier if another is due at the same time.
func (d *driver) untie(item int) {
	for d.waiting[item] > 0 && d.isTaken(item, d.waiting[item]) {
		left := min(d.waiting[item]-d.now(), time.Minute)
		d.addItemAfter(item, time.Duration(d.Int64N(int64(left))))
	}
}

// wait lets time pass, a whole number of milliseconds.
func (d *driver) wait(duration time.Duration) {
	time.Sleep(duration)
	now := d.now()
	for item, due := range d.waiting {
		if due <= now {
			delete(d.waiting, item)
			d.becameDirty(item)
		}
	}
	d.wrote(opWait, duration)
}

// waitForNext waits until the first waiting item is due, or a millisecond less.
func (d *driver) waitForNext() {
	const tooLong = 2 * time.Hour
	left := tooLong
	for _, due := range d.waiting {
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

// someTime is for waits and delays: milliseconds mostly, sometimes longer than client-go's heartbeat of 10 s.
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

// someDelay is someTime, or none, a negative one, or one that is no whole number of milliseconds.
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

// run performs about so many operations of those to choose from. Towards the end the queue may be shut down
// or drained, and what is left in it taken.
func (d *driver) run(operations int, choices ...choice) {
	basics := []choice{
		{d.Float64() + 0.1, d.add},
		{d.Float64() + 0.1, d.get},
		{d.Float64() + 0.1, d.done},
		{0.05, d.doneUnheld},
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

// A listener is a limiter that remembers the last delay.
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
