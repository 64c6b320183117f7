package record

import (
	"time"

	"golang.org/x/time/rate"
)

// tooFar is half the range in which a double counts whole nanoseconds, about 52 days. JavaScript knows later times only
// roughly, so a trace ends at a reservation beyond that. "Never" is exact.
const tooFar = time.Duration(1) << 52

// recordTokenBucket records operations on a token bucket. The time of an operation may be earlier than the previous
// one.
func recordTokenBucket(t *trace) {
	limit, burst := t.rate(), t.burst()
	t.write(limit, burst)
	limiter := rate.NewLimiter(rate.Limit(limit), burst)
	start := time.Now()
	var now time.Duration
	var reservations []*rate.Reservation

	at := func() time.Time { return start.Add(now) }
	anyReservation := func() (int, *rate.Reservation) {
		number := t.IntN(len(reservations))
		if t.chance(50) {
			number = max(number, len(reservations)-1-t.IntN(4)) // one of the last
		}
		return number, reservations[number]
	}
	// step returns the time between the last operation and the next one.
	step := func() time.Duration {
		switch {
		case now.Abs() > 5*day:
			return -now
		case t.chance(25):
			return 0
		case t.chance(10):
			return -t.duration(1, 10*time.Second)
		case t.chance(3):
			return t.duration(1, day)
		case t.chance(30) && len(reservations) > 0: // when a reservation comes due, or a nanosecond before or after
			_, reservation := anyReservation()
			if delay := reservation.DelayFrom(at()); delay < day {
				return delay + time.Duration(t.between(-1, 1))
			}
		}
		return t.duration(1, 10*time.Second)
	}
	amount := func() int {
		switch {
		case t.chance(60):
			return 1
		case t.chance(20):
			return limiter.Burst()
		default:
			return t.IntN(limiter.Burst() + 3)
		}
	}
	// do starts an operation.
	do := func(operation operation, arguments ...any) {
		elapsed := step()
		now += elapsed
		t.write(operation, elapsed)
		t.write(arguments...)
	}
	changes := t.Float64() * 0.3
	cancels := t.Float64()

	isOver := false
	for left := t.between(30, 120); left > 0 && !isOver; left-- {
		t.choose(
			choice{0.5, func() {
				n := amount()
				do(opAllow, n)
				t.write(limiter.AllowN(at(), n))
			}},
			choice{1, func() {
				n := amount()
				do(opReserve, n)
				reservation := limiter.ReserveN(at(), n)
				reservations = append(reservations, reservation)
				delay := reservation.DelayFrom(at())
				t.write(reservation.OK(), delay)
				isOver = delay > tooFar && delay != rate.InfDuration
			}},
			choice{cancels, func() {
				if len(reservations) > 0 {
					number, reservation := anyReservation()
					do(opCancel, number)
					reservation.CancelAt(at())
				}
			}},
			choice{0.2, func() {
				if len(reservations) > 0 {
					number, reservation := anyReservation()
					do(opDelay, number)
					t.write(reservation.DelayFrom(at()))
				}
			}},
			choice{0.4, func() {
				do(opTokens)
				t.write(limiter.TokensAt(at()))
			}},
			choice{changes, func() {
				limit := t.rate()
				do(opSetRate, limit)
				limiter.SetLimitAt(at(), rate.Limit(limit))
			}},
			choice{changes, func() {
				burst := t.burst()
				do(opSetBurst, burst)
				limiter.SetBurstAt(at(), burst)
			}},
		)
	}
}

func (t *trace) burst() int {
	return t.IntN([]int{1, 3, 10, 100, 1000}[t.IntN(5)])
}
