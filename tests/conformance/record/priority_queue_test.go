package record

import (
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// A priorityDriver performs operations on controller-runtime's priority queue.
//
// It tracks the queue's record of each item, only to decide what to do next. Times are whole multiples of the trace's
// unit. The queue creates a ticker for the time left until an item is due and never stops it, and a ticker of a few
// nanoseconds would keep the bubble busy forever.
type priorityDriver struct {
	*driver
	queue   priorityqueue.PriorityQueue[int]
	limiter *listener
	unit    time.Duration
	// levels has the priorities to choose from.
	levels []int
	// records has the ready and delayed items, including items added again while processing.
	records map[int]record
	// place is the next place in the order of adds.
	place int
	// getters has the pending calls of GetWithPriority, in order.
	getters []*getter
	// isOver reports that the trace must end, because the queues would differ from here on.
	isOver bool
}

// A record describes a ready or delayed item.
type record struct {
	priority int
	// place orders items of one priority. It changes when the item is raised or comes due.
	place int
	// began is the first place of the record.
	began int
	// due is the time since the start when the item becomes ready; 0 if it is ready.
	due time.Duration
}

// A getter is a call of GetWithPriority that may have to wait.
type getter struct {
	item, priority int
	hasReturned    atomic.Bool
}

// newPriorityDriver returns a driver of a queue without metrics.
func newPriorityDriver(t *trace) *priorityDriver { return newNamedPriorityDriver(t, "", nil) }

// newNamedPriorityDriver returns a driver of a queue with metrics, by default controller-runtime's own.
func newNamedPriorityDriver(t *trace, name string, provider workqueue.MetricsProvider) *priorityDriver {
	unit := []time.Duration{1, 5, 50, 1000}[t.IntN(4)] * time.Millisecond
	spec := t.wholeLimiter(unit)
	t.write(spec)
	limiter := &listener{TypedRateLimiter: spec.build()}
	queue := priorityqueue.New(name, func(options *priorityqueue.Opts[int]) {
		options.RateLimiter = limiter
		options.MetricProvider = provider
	})
	return &priorityDriver{
		driver:  newDriver(t, queue),
		queue:   queue,
		limiter: limiter,
		unit:    unit,
		levels:  t.levels(),
		records: map[int]record{},
	}
}

// wholeLimiter returns a limiter whose delays are positive whole multiples of unit.
func (t *trace) wholeLimiter(unit time.Duration) limiterSpec {
	units := func(low, high int) time.Duration { return time.Duration(t.between(low, high)) * unit }
	exponential := limiterSpec{"exponential", units(1, 5), units(5, 60)}
	fastSlow := limiterSpec{"fast-slow", units(1, 5), units(1, 60), t.IntN(5)}
	switch t.IntN(5) {
	case 0:
		return limiterSpec{"max-of", exponential, fastSlow}
	case 1:
		return limiterSpec{"max-wait", exponential, units(1, 30)}
	case 2:
		return fastSlow
	default:
		return exponential
	}
}

// levels returns one to three common priorities, two of them, or a random set.
func (t *trace) levels() []int {
	switch t.IntN(4) {
	case 0:
		return []int{-100, 0, 100}[:t.between(1, 3)]
	case 1:
		return []int{-100, 0}
	default:
		levels := make([]int, t.between(2, 5)*t.between(1, 5))
		for i := range levels {
			levels[i] = t.between(-100, 100)
		}
		return levels
	}
}

// stop ends the goroutines of the queue. The queue panics if it is shut down twice.
func (d *priorityDriver) stop() {
	if !d.queue.ShuttingDown() {
		d.queue.ShutDown()
	}
	synctest.Wait()
}

func (d *priorityDriver) priority() int { return d.levels[d.IntN(len(d.levels))] }

func (d *priorityDriver) units(low, high int) time.Duration {
	return time.Duration(d.between(low, high)) * d.unit
}

// delay returns a delay that is usually short, so that many items are due at once. It may be zero or negative.
func (d *priorityDriver) delay() time.Duration {
	switch {
	case d.chance(5):
		return -d.units(0, 5)
	case d.chance(10):
		return d.units(20, 100)
	default:
		return d.units(1, 12)
	}
}

// wrote ends an operation. It writes an operation "served" for each pending call of GetWithPriority that has returned.
func (d *priorityDriver) wrote(values ...any) {
	d.driver.wrote(values...)
	for len(d.getters) > 0 && d.getters[0].hasReturned.Load() {
		served := d.getters[0]
		d.getters = d.getters[1:]
		d.handedOut(served.item)
		d.driver.wrote(opServed, served.item, served.priority)
	}
}

// handedOut notes that an item was handed out.
func (d *priorityDriver) handedOut(item int) {
	if item >= 0 {
		delete(d.records, item)
		d.processing = append(d.processing, item)
	}
}

// folded returns the record of an item after an add.
func (d *priorityDriver) folded(item, priority int, delay time.Duration) record {
	var due time.Duration
	if delay > 0 {
		due = d.now() + delay
	}
	folded, known := d.records[item]
	if !known {
		return record{priority, d.place, d.place, due}
	}
	folded.due = min(folded.due, due)
	if priority > folded.priority {
		folded.priority, folded.place = priority, d.place
	}
	return folded
}

// agrees reports whether an item's new record has the same place in both queues. The places differ in three cases:
//
//   - An item is added again while processing. Its place counts from the add in controller-runtime, and from Done in
//     our queue.
//   - A delayed item is added without a delay. Its place counts from the earlier add in controller-runtime, and from
//     the new add in our queue.
//   - A delayed item is raised to the priority of others that are due at the same time. It comes after them in
//     controller-runtime. In our queue, they keep the order in which their delays began.
func (d *priorityDriver) agrees(item int, next record) bool {
	if next.due == 0 && d.isProcessing(item) {
		return false
	}
	last, known := d.records[item]
	for other, its := range d.records {
		if other == item || its.priority != next.priority || its.due != next.due {
			continue
		}
		if next.due == 0 && known && last.due > 0 && next.place < its.place {
			return false
		}
		if next.due > 0 && (next.place < its.place) != (next.began < its.began) {
			return false
		}
	}
	return true
}

// added notes that an item was added.
func (d *priorityDriver) added(item int, next record) {
	if d.queue.ShuttingDown() {
		return
	}
	d.records[item] = next
	d.place++
}

// addIf adds an item, at once or after a delay, if may allows it.
func (d *priorityDriver) addIf(may func(item int, next record) bool, item, priority int, delay time.Duration) {
	next := d.folded(item, priority, delay)
	if !may(item, next) {
		return
	}
	d.addWithOpts(item, priority, priorityqueue.AddOpts{After: delay})
	d.added(item, next)
	if delay == 0 {
		d.wrote(opAdd, item, priority)
	} else {
		d.wrote(opAddAfter, item, delay, priority)
	}
}

// addWithOpts adds an item. It omits a priority of 0.
func (d *priorityDriver) addWithOpts(item, priority int, options priorityqueue.AddOpts) {
	if priority != 0 {
		options.Priority = &priority
	}
	d.queue.AddWithOpts(options, item)
}

func (d *priorityDriver) add() { d.addIf(d.agrees, d.item(), d.priority(), 0) }

func (d *priorityDriver) addAfter() { d.addIf(d.agrees, d.item(), d.priority(), d.delay()) }

// addRateLimited adds an item after the limiter's delay. Agreement can only be checked afterwards, once the delay is
// known.
func (d *priorityDriver) addRateLimited() {
	if d.queue.ShuttingDown() {
		return // controller-runtime doesn't ask the limiter now, but client-go does
	}
	item, priority := d.item(), d.priority()
	d.addWithOpts(item, priority, priorityqueue.AddOpts{RateLimited: true})
	synctest.Wait()
	next := d.folded(item, priority, d.limiter.delay)
	d.isOver = !d.agrees(item, next)
	d.added(item, next)
	d.wrote(opAddRateLimited, item, priority, d.limiter.delay)
}

func (d *priorityDriver) forget() {
	item := d.item()
	d.queue.Forget(item)
	d.wrote(opForget, item)
}

func (d *priorityDriver) numRequeues() {
	item := d.item()
	d.wrote(opNumRequeues, item, d.queue.NumRequeues(item))
}

// hasNext reports whether an item can be handed out.
func (d *priorityDriver) hasNext() bool {
	for item, its := range d.records {
		if its.due == 0 && !d.isProcessing(item) {
			return true
		}
	}
	return false
}

// get takes an item or notes the shutdown. It does nothing if that would block; getLater has calls that wait.
func (d *priorityDriver) get() {
	if !d.hasNext() && !d.queue.ShuttingDown() {
		return
	}
	item, priority := d.getWithPriority()
	d.handedOut(item)
	d.wrote(opGet, item, priority)
}

// getWithPriority returns the next item and its priority, or -1 and 0 after a shutdown.
func (d *priorityDriver) getWithPriority() (item, priority int) {
	item, priority, shutdown := d.queue.GetWithPriority()
	if shutdown {
		return -1, 0
	}
	return item, priority
}

// getLater starts a call that waits for an item.
func (d *priorityDriver) getLater() {
	if d.hasNext() || d.queue.ShuttingDown() || len(d.getters) == 3 {
		return
	}
	getter := &getter{}
	d.getters = append(d.getters, getter)
	go func() {
		getter.item, getter.priority = d.getWithPriority()
		getter.hasReturned.Store(true)
	}()
	d.wrote(opGetLater)
}

// done calls Done for a random item, usually one that is processing.
func (d *priorityDriver) done() {
	if d.chance(90) {
		d.doneAnyProcessing()
		return
	}
	item := d.item()
	if !d.isProcessing(item) {
		d.queue.Done(item)
		d.wrote(opDone, item)
	}
}

func (d *priorityDriver) doneAnyProcessing() {
	if len(d.processing) > 0 {
		d.doneProcessing(d.IntN(len(d.processing)))
	}
}

func (d *priorityDriver) doneProcessing(i int) {
	item := d.processing[i]
	d.processing = append(d.processing[:i], d.processing[i+1:]...)
	d.queue.Done(item)
	d.wrote(opDone, item)
}

// wait lets time pass. Processing items that would come due meanwhile are done first.
func (d *priorityDriver) wait(duration time.Duration) {
	for i := len(d.processing) - 1; i >= 0; i-- {
		if its, waits := d.records[d.processing[i]]; waits && its.due <= d.now()+duration {
			d.doneProcessing(i)
		}
	}
	d.waitAnyhow(duration)
}

func (d *priorityDriver) waitAnyhow(duration time.Duration) {
	time.Sleep(duration)
	if !d.queue.ShuttingDown() {
		d.makeReady()
	}
	d.wrote(opWait, duration)
}

// makeReady notes the items that came due.
func (d *priorityDriver) makeReady() {
	for {
		next, nextIs := -1, record{}
		for item, its := range d.records {
			isDue := its.due > 0 && its.due <= d.now()
			if isDue && (next < 0 || its.isDueBefore(nextIs)) {
				next, nextIs = item, its
			}
		}
		if next < 0 {
			return
		}
		nextIs.due, nextIs.place = 0, d.place
		d.records[next] = nextIs
		d.place++
	}
}

func (r record) isDueBefore(other record) bool {
	switch {
	case r.due != other.due:
		return r.due < other.due
	case r.priority != other.priority:
		return r.priority > other.priority
	default:
		return r.place < other.place
	}
}

// waitForNext waits until the first delayed item is due, or sometimes one unit less.
func (d *priorityDriver) waitForNext() {
	var next time.Duration
	for _, its := range d.records {
		if its.due > 0 && (next == 0 || its.due < next) {
			next = its.due
		}
	}
	if next == 0 || d.queue.ShuttingDown() {
		return
	}
	left := next - d.now()
	if d.chance(20) {
		left = max(left-d.unit, 0)
	}
	d.wait(left)
}

func (d *priorityDriver) shutDown() {
	d.queue.ShutDown()
	d.wrote(opShutDown)
}

// operate performs up to this many operations.
func (d *priorityDriver) operate(operations int, choices ...choice) {
	choices = append(choices,
		choice{d.Float64() + 0.1, d.add},
		choice{d.Float64() + 0.1, d.get},
		choice{d.Float64() + 0.1, d.done},
		choice{d.Float64() / 2, func() { d.wait(d.units(0, 8)) }},
		choice{d.Float64() / 2, d.waitForNext},
	)
	for ; operations > 0 && !d.isOver; operations-- {
		d.choose(choices...)
	}
}

// delays returns the operations that concern delays.
func (d *priorityDriver) delays() []choice {
	return []choice{
		{d.Float64() + 0.1, d.addAfter},
		{d.Float64() / 2, d.addRateLimited},
		{0.1, d.forget},
		{0.1, d.numRequeues},
	}
}

// shutDownAtRest shuts down while no item is ready. A shutdown with ready items has its own exception.
func (d *priorityDriver) shutDownAtRest() {
	for d.hasNext() {
		d.get()
	}
	d.shutDown()
	d.operate(d.IntN(10), choice{1, d.addAfter})
}

func recordPriority(t *trace) {
	d := newPriorityDriver(t)
	defer d.stop()
	d.operate(t.between(40, 160), append(d.delays(), choice{d.Float64() / 2, d.getLater})...)
	if t.chance(50) && !d.isOver {
		d.shutDownAtRest()
	}
}

func recordPriorityMetrics(t *trace) {
	metrics := &metrics{}
	d := newNamedPriorityDriver(t, "measured", metrics)
	defer d.stop()
	d.after = func() { metrics.write(t) }
	// With a delay of 0 or less, client-go counts a retry and controller-runtime doesn't, so delays are positive here.
	addAfter := func() { d.addIf(d.agrees, d.item(), d.priority(), d.units(1, 12)) }
	d.operate(
		t.between(40, 120),
		choice{0.4, addAfter},
		choice{0.2, d.addRateLimited},
		choice{0.1, d.getLater},
		choice{0.2, func() { d.wait(time.Duration(t.between(0, 4)) * 250 * time.Millisecond) }},
	)
	if t.chance(50) && !d.isOver {
		d.shutDownAtRest()
	}
}
