package record

import (
	"errors"
	"math"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
)

// A breakerDriver performs operations on failsafe-go's circuit breaker and writes down the results.
//
// It avoids operations whose results differ from those of the breaker throttle on purpose, unless mode names the
// difference.
type breakerDriver struct {
	*trace
	mode    breakerMode
	breaker circuitbreaker.CircuitBreaker[any]
	ratio   float64
	least   int
	window  time.Duration
	delay   time.Duration
	probes  int

	acquired int
	// running has the running attempts, each with the state in which it began.
	running []runningAttempt
	// era is the number of changes of the state.
	era       int
	state     circuitbreaker.State
	succeeded int
	tried     int
	// results has the results since the breaker closed, with their times.
	results []breakerResult
}

type runningAttempt struct{ number, era int }

type breakerResult struct {
	at     time.Time
	failed bool
}

// A breakerMode is the difference that a trace may contain.
type breakerMode int

const (
	// modeSame allows no difference.
	modeSame breakerMode = iota
	// modeRounded allows shares of failures that differ from the threshold by less than the rounding to 0.01.
	modeRounded
	// modeProbes allows more probes after the first success.
	modeProbes
	// modeLate allows results of attempts that began in an earlier state.
	modeLate
	// modeWindow allows times that aren't multiples of a tenth of the window.
	modeWindow
)

func recordBreaker(t *trace)            { recordBreakerIn(t, modeSame) }
func recordBreakerDifferences(t *trace) { recordBreakerIn(t, breakerMode(t.between(1, 4))) }

func recordBreakerIn(t *trace, mode breakerMode) {
	seconds := []int{1, 2, 5, 10, 30, 60, 600}[t.IntN(7)]
	d := &breakerDriver{
		trace:  t,
		mode:   mode,
		ratio:  float64(t.between(1, 100)) / 100,
		least:  t.between(1, 30),
		window: time.Duration(seconds) * time.Second,
		delay:  time.Duration(t.between(1, 30)) * time.Duration(seconds) * time.Second / 10,
		probes: t.between(1, 5),
	}
	if t.chance(50) {
		d.ratio = float64(t.between(1, 4)) / 4
	}
	if mode == modeRounded { // a share that occurs often, rounded
		d.least = t.between(3, 30)
		d.ratio = math.Round(100*float64(t.between(1, d.least))/float64(d.least)) / 100
	}
	d.breaker = circuitbreaker.NewBuilder[any]().
		WithFailureRateThreshold(d.ratio, uint(d.least), d.window).
		WithDelay(d.delay).
		WithSuccessThreshold(uint(d.probes)).
		Build()
	t.write(int(mode), d.ratio, d.least, d.window, d.delay, d.probes)

	failures := t.Float64()
	for range t.between(60, 300) {
		if t.chance(2) {
			failures = t.Float64()
		}
		passes := 1.0
		switch mode {
		case modeWindow:
			passes = 4
		case modeRounded:
			passes, failures = 0.2, d.ratio
		}
		t.choose(
			choice{4, d.acquire},
			choice{4, func() { d.end(t.Float64() < failures) }},
			choice{passes, d.pass},
		)
	}
}

func (d *breakerDriver) acquire() {
	if d.state == circuitbreaker.HalfOpenState && d.tried >= d.probes && d.succeeded > 0 && d.mode != modeProbes {
		return
	}
	isAllowed := d.breaker.TryAcquirePermit()
	d.noteState()
	if isAllowed {
		d.running = append(d.running, runningAttempt{d.acquired, d.era})
		d.acquired++
		d.tried++
	}
	d.wrote(opAcquire, isAllowed)
}

// end records the result of a random running attempt.
func (d *breakerDriver) end(failed bool) {
	if len(d.running) == 0 {
		return
	}
	i := d.IntN(len(d.running))
	attempt := d.running[i]
	if attempt.era != d.era && d.mode != modeLate {
		d.running = append(d.running[:i], d.running[i+1:]...)
		return // neither breaker hears of it
	}
	if d.state == circuitbreaker.ClosedState && d.isRounded(failed) && d.mode != modeRounded {
		failed = !failed
		if d.isRounded(failed) {
			return
		}
	}
	d.running = append(d.running[:i], d.running[i+1:]...)
	if failed {
		d.breaker.RecordError(errors.New("failed"))
	} else {
		d.breaker.RecordSuccess()
		d.succeeded++
	}
	d.results = append(d.results, breakerResult{time.Now(), failed})
	d.noteState()
	d.wrote(opEnd, attempt.number, failed)
}

// isRounded reports whether rounding the share of failures decides if the breaker opens after one more result.
func (d *breakerDriver) isRounded(failed bool) bool {
	tenth := d.window.Nanoseconds() / 10
	attempts, failures := 1.0, 0.0
	if failed {
		failures++
	}
	for _, result := range d.results {
		if time.Now().UnixNano()/tenth-result.at.UnixNano()/tenth < 10 {
			attempts++
			if result.failed {
				failures++
			}
		}
	}
	share := failures / attempts
	return (share >= d.ratio) != (math.Round(share*100)/100 >= d.ratio)
}

func (d *breakerDriver) pass() {
	tenth := d.window / 10
	duration := time.Duration(d.between(0, 4)) * tenth
	if d.chance(20) {
		duration = d.delay
	}
	if d.mode == modeWindow {
		duration = d.duration(d.window/50, d.window/2)
	}
	time.Sleep(duration)
	d.wrote(opWait, duration)
}

// noteState notes a change of the state.
func (d *breakerDriver) noteState() {
	state := d.breaker.State()
	if state == d.state {
		return
	}
	d.state = state
	d.era++
	d.tried, d.succeeded, d.results = 0, 0, nil
}

// wrote writes an operation, and then the state and the time until an open breaker lets probes through.
func (d *breakerDriver) wrote(values ...any) {
	d.write(values...)
	d.write(int(d.state), d.breaker.RemainingDelay())
}
