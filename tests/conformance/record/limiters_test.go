package record

import (
	"math"
	"math/bits"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// A limiterSpec has the kind and the arguments of a limiter. Durations are in nanoseconds:
//
//	["exponential", base, max], ["fast-slow", fast, slow, attempts], ["bucket", rate, burst],
//	["max-of", spec, …], ["max-wait", spec, max], ["default-controller"], ["default-item"]
type limiterSpec []any

func (s limiterSpec) build() workqueue.TypedRateLimiter[int] {
	switch s[0] {
	case "exponential":
		return workqueue.NewTypedItemExponentialFailureRateLimiter[int](s[1].(time.Duration), s[2].(time.Duration))
	case "fast-slow":
		return workqueue.NewTypedItemFastSlowRateLimiter[int](s[1].(time.Duration), s[2].(time.Duration), s[3].(int))
	case "bucket":
		return &workqueue.TypedBucketRateLimiter[int]{Limiter: rate.NewLimiter(rate.Limit(s[1].(float64)), s[2].(int))}
	case "max-of":
		var limiters []workqueue.TypedRateLimiter[int]
		for _, spec := range s[1:] {
			limiters = append(limiters, spec.(limiterSpec).build())
		}
		return workqueue.NewTypedMaxOfRateLimiter(limiters...)
	case "max-wait":
		return workqueue.NewTypedWithMaxWaitRateLimiter(s[1].(limiterSpec).build(), s[2].(time.Duration))
	case "default-controller":
		return workqueue.DefaultTypedControllerRateLimiter[int]()
	case "default-item":
		return workqueue.DefaultTypedItemBasedRateLimiter[int]()
	}
	panic("no such limiter")
}

const day = 24 * time.Hour

// exponential returns a limiter whose base delay is 0 or at least the given one. Powers of two nanoseconds are left to
// the family backoff-overflow.
func (t *trace) exponential(least time.Duration) limiterSpec {
	base := t.duration(least, day)
	if t.chance(50) {
		base += time.Duration(t.IntN(1_000_000))
	}
	if bits.OnesCount64(uint64(base)) == 1 {
		base += 2 * base
	}
	if t.chance(5) {
		base = 0
	}
	return limiterSpec{"exponential", base, base + t.duration(1, math.MaxInt64/4)}
}

func (t *trace) fastSlow() limiterSpec {
	return limiterSpec{"fast-slow", t.duration(1000, day), t.duration(1000, day), t.IntN(2) * t.IntN(30)}
}

func (t *trace) bucket() limiterSpec {
	if t.chance(25) { // a token takes years, or longer than the longest duration
		return limiterSpec{"bucket", math.Exp(-18 - 10*t.Float64()), t.IntN(4)}
	}
	return limiterSpec{"bucket", t.rate(), t.IntN(2) * t.IntN(60)}
}

// rate returns a number of tokens per second.
func (t *trace) rate() float64 {
	switch t.IntN(7) {
	case 0:
		return 0
	case 1:
		return float64(rate.Inf)
	case 2:
		return float64(rate.Every(t.duration(1000, day)))
	case 3:
		return float64(t.between(1, 1000))
	case 4:
		return 0.1 * float64(t.between(1, 100))
	default:
		return math.Exp(t.Float64()*20 - 6)
	}
}

// limiter returns any limiter, nested up to depth. Exponential base delays are 0 or at least the given one.
func (t *trace) limiter(depth int, least time.Duration) limiterSpec {
	kind := t.IntN(8)
	if depth == 0 {
		kind = t.IntN(4)
	}
	switch kind {
	case 0, 1:
		return t.exponential(least)
	case 2:
		return t.fastSlow()
	case 3:
		return t.bucket()
	case 4:
		return limiterSpec{"max-wait", t.limiter(depth-1, least), t.duration(1000, day) * time.Duration(t.IntN(2))}
	case 5:
		return limiterSpec{"default-controller"}
	case 6:
		return limiterSpec{"default-item"}
	default:
		spec := limiterSpec{"max-of"}
		for range t.between(1, 3) {
			spec = append(spec, t.limiter(depth-1, least))
		}
		return spec
	}
}

// queueLimiter returns any limiter, or one whose delays are typical of queues.
func (t *trace) queueLimiter() limiterSpec {
	if t.chance(40) {
		return t.limiter(2, time.Microsecond)
	}
	base := time.Duration(t.between(1001, 20_000_000)) | 1
	fast := time.Duration(t.between(1, 50)) * time.Millisecond
	return limiterSpec{
		"max-of",
		limiterSpec{"exponential", base, base + t.duration(time.Millisecond, time.Minute)},
		limiterSpec{"fast-slow", fast, t.duration(time.Millisecond, time.Minute), t.IntN(5)},
		limiterSpec{"bucket", math.Exp(t.Float64() * 6), t.between(1, 30)},
	}[:t.between(2, 4)]
}

func recordLimiter(t *trace) {
	spec := t.limiter(2, 1)
	t.write(spec)
	limiter := spec.build()
	items := t.between(1, 8)
	operations := t.between(40, 120)
	forgets := 0.1
	if t.chance(5) { // hundreds of failures of one item
		items, operations, forgets = 1, t.between(300, 600), 0
	}
	for range operations {
		item := t.IntN(items)
		t.choose(
			choice{2, func() { t.write(opWhen, item, limiter.When(item)) }},
			choice{0.3, func() { t.write(opNumRequeues, item, limiter.NumRequeues(item)) }},
			choice{forgets, func() {
				limiter.Forget(item)
				t.write(opForget, item)
			}},
			choice{0.4, func() {
				duration := t.duration(1, time.Hour)
				time.Sleep(duration)
				t.write(opWait, duration)
			}},
		)
	}
}
