package bench

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

const levels = 201

// randomPriorities returns the priorities of bench/priorities.ts: pseudorandom numbers from -100 to 100.
func randomPriorities(count int) []int {
	priorities := make([]int, count)
	random := 1
	for i := range priorities {
		random = random * 48_271 % 0x7fff_ffff
		priorities[i] = random%levels - 100
	}
	return priorities
}

// newPriorityQueue creates a queue without metrics: only queues with a name have them.
func newPriorityQueue() priorityqueue.PriorityQueue[string] {
	return priorityqueue.New[string]("")
}

func addWithPriority(queue priorityqueue.PriorityQueue[string], key string, priority *int) {
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: priority}, key)
}

func BenchmarkPriorityReady(b *testing.B) {
	keys := distinctKeys(items)
	priorities := randomPriorities(items)
	perItem(b, items, func() {
		queue := newPriorityQueue()
		for i, key := range keys {
			addWithPriority(queue, key, &priorities[i])
		}
		for range keys {
			key, _, _ := queue.GetWithPriority()
			queue.Done(key)
		}
		queue.ShutDown()
	})
}

func BenchmarkPrioritySteady(b *testing.B) {
	keys := distinctKeys(items + 1)
	priorities := randomPriorities(items)
	queue := newPriorityQueue()
	defer queue.ShutDown()
	for i, key := range keys[:items] {
		addWithPriority(queue, key, &priorities[i])
	}
	spare := keys[items]
	perItem(b, items, func() {
		for i := range priorities {
			addWithPriority(queue, spare, &priorities[i])
			spare, _, _ = queue.GetWithPriority()
			queue.Done(spare)
		}
	})
}
