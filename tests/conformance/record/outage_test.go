package record

import (
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// An outage is a time during which the only key fails, while events add it again and again.
type outage struct {
	limiter  limiterSpec
	duration time.Duration
	// interval is the time between two events, or 0 for no events.
	interval time.Duration
	// lasts is the time that each attempt takes.
	lasts time.Duration
}

// recordOutage records the attempts of an outage, up to the first success. The first trace is the outage of kubernetes
// issues 98656, 112325 and 132805. All times are whole milliseconds. Where two things happen at the same time, their
// order is random in Go, so such outages are not recorded.
func recordOutage(t *trace) {
	ms := time.Millisecond
	for isFirst := t.isFirst; ; isFirst = false {
		o := outage{limiterSpec{"exponential", 5 * ms, 1000 * time.Second}, 60 * time.Second, time.Second, 3 * ms}
		if !isFirst {
			o = outage{
				limiter:  t.outageLimiter(),
				duration: time.Duration(t.between(1, 600_000)) * ms,
				interval: time.Duration(t.IntN(4)*t.between(100, 20_000)) * ms,
				lasts:    time.Duration(t.between(1, 3000)) * ms,
			}
		}
		began, hasTie := o.run()
		if hasTie {
			continue
		}
		t.write(o.limiter, opOutage, o.duration, o.interval, o.lasts, len(began))
		for _, at := range began {
			t.write(at)
		}
		return
	}
}

func (t *trace) outageLimiter() limiterSpec {
	ms := func(low, high int) time.Duration { return time.Duration(t.between(low, high)) * time.Millisecond }
	switch t.IntN(4) {
	case 0:
		return limiterSpec{"fast-slow", ms(5, 1000), ms(1000, 60_000), t.between(1, 10)}
	case 1:
		return limiterSpec{"max-wait", limiterSpec{"exponential", ms(5, 1000), 1000 * time.Second}, ms(1000, 60_000)}
	default:
		return limiterSpec{"exponential", ms(1, 2000), ms(2000, 1_000_000)}
	}
}

// run works on the key until an attempt succeeds. It returns when the attempts began, and whether an event arrived at
// the moment at which an attempt ended or a retry was due.
func (o outage) run() (began []time.Duration, hasTie bool) {
	queue := workqueue.NewTypedRateLimitingQueue(o.limiter.build())
	started := time.Now()
	now := func() time.Duration { return time.Since(started) }
	isEvent := func(at time.Duration) bool { return o.interval > 0 && at%o.interval == 0 }
	ended := make(chan struct{})
	if o.interval > 0 {
		go func() {
			ticker := time.NewTicker(o.interval)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					if now() >= o.duration {
						return
					}
					queue.Add(0)
				case <-ended:
					return
				}
			}
		}()
	}
	queue.Add(0)
	for {
		item, _ := queue.Get()
		began = append(began, now())
		isDown := now() < o.duration
		time.Sleep(o.lasts)
		hasTie = hasTie || isEvent(now())
		if !isDown {
			queue.Forget(item)
			queue.Done(item)
			break
		}
		delay := o.limiter.delayOf(queue.NumRequeues(item))
		hasTie = hasTie || isEvent(now()+delay)
		queue.AddRateLimited(item)
		queue.Done(item)
	}
	close(ended)
	queue.ShutDown()
	synctest.Wait()
	return began, hasTie
}

// delayOf returns the delay after a number of earlier failures.
func (s limiterSpec) delayOf(failures int) time.Duration {
	limiter := s.build()
	for range failures {
		limiter.When(0)
	}
	return limiter.When(0)
}
