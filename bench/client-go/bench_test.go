// Package bench measures the works of bench/peers with the queues of client-go and controller-runtime.
package bench

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

const (
	items        = 100_000
	workers      = 10
	keysThatFail = 1000
)

func distinctKeys(count int) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/name-%d", i%10, i)
	}
	return keys
}

// perItem runs the work b.N times and reports the cost per item.
func perItem(b *testing.B, count int, work func()) {
	b.ResetTimer()
	for range b.N {
		work()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/item")
}

func addAllThenTakeAll(keys []string) {
	queue := workqueue.NewTyped[string]()
	for _, key := range keys {
		queue.Add(key)
	}
	for range keys {
		key, _ := queue.Get()
		queue.Done(key)
	}
	queue.ShutDown()
}

func BenchmarkReady(b *testing.B) {
	for _, count := range []int{1000, 30_000, items, 1_000_000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			keys := distinctKeys(count)
			perItem(b, count, func() { addAllThenTakeAll(keys) })
		})
	}
}

func BenchmarkSteady(b *testing.B) {
	keys := distinctKeys(items + 1)
	queue := workqueue.NewTyped[string]()
	defer queue.ShutDown()
	for _, key := range keys[:items] {
		queue.Add(key)
	}
	spare := keys[items]
	perItem(b, items, func() {
		for range items {
			queue.Add(spare)
			spare, _ = queue.Get()
			queue.Done(spare)
		}
	})
}

func BenchmarkOneAtATime(b *testing.B) {
	keys := distinctKeys(items)
	perItem(b, items, func() {
		queue := workqueue.NewTyped[string]()
		for _, key := range keys {
			queue.Add(key)
			taken, _ := queue.Get()
			queue.Done(taken)
		}
		queue.ShutDown()
	})
}

func BenchmarkReadyAgain(b *testing.B) {
	keys := distinctKeys(items)
	queue := workqueue.NewTyped[string]()
	defer queue.ShutDown()
	add := func() {
		for _, key := range keys {
			queue.Add(key)
		}
	}
	add()
	perItem(b, items, add)
}

func BenchmarkWaitingWorkers(b *testing.B) {
	keys := distinctKeys(items)
	perItem(b, items, func() {
		queue := workqueue.NewTyped[string]()
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for {
					key, shutdown := queue.Get()
					if shutdown {
						return
					}
					queue.Done(key)
				}
			})
		}
		for _, key := range keys {
			queue.Add(key)
		}
		queue.ShutDown()
		group.Wait()
	})
}

// BenchmarkDelayed uses a fake clock and advances it whenever no item is ready.
func BenchmarkDelayed(b *testing.B) {
	keys := distinctKeys(items)
	perItem(b, items, func() {
		clock := clocktesting.NewFakeClock(time.Now())
		queue := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: clock})
		for i, key := range keys {
			queue.AddAfter(key, time.Duration(i%50+1)*time.Millisecond)
		}
		for left := len(keys); left > 0; {
			if queue.Len() == 0 {
				clock.Step(time.Millisecond)
				runtime.Gosched()
				continue
			}
			key, _ := queue.Get()
			queue.Done(key)
			left--
		}
		queue.ShutDown()
	})
}

func failOften(limiter workqueue.TypedRateLimiter[string], keys []string) {
	for range items / keysThatFail {
		for _, key := range keys {
			limiter.When(key)
		}
	}
}

func BenchmarkWhenExponential(b *testing.B) {
	keys := distinctKeys(keysThatFail)
	perItem(b, items, func() {
		failOften(workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second), keys)
	})
}

func BenchmarkWhenDefaultController(b *testing.B) {
	keys := distinctKeys(keysThatFail)
	perItem(b, items, func() {
		failOften(workqueue.DefaultTypedControllerRateLimiter[string](), keys)
	})
}
