// Package record drives client-go's work queues and limiters, the token bucket of golang.org/x/time,
// controller-runtime's priority queue and failsafe-go's circuit breaker with random operations, and writes down the
// results. ../README.md describes the format.
//
//	go test -run TestRecord -count=1 -args -seed 1 -traces 2400 -out ../vectors
package record

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

var (
	seed   = flag.Uint64("seed", 1, "where the random numbers start")
	traces = flag.Int("traces", 2400, "how many traces to record, over all families")
	out    = flag.String("out", "", "the directory to write to")
)

// A family is a kind of trace, recorded in its own file. Its share of all traces is relative to the other shares.
type family struct {
	name   string
	share  int
	record func(*trace)
}

var families = []family{
	{"fifo", 14, recordFIFO},
	{"delaying", 14, recordDelaying},
	{"limiters", 18, recordLimiter},
	{"token-bucket", 20, recordTokenBucket},
	{"rate-limiting", 12, recordRateLimiting},
	{"metrics", 7, recordMetrics},
	// Deliberate differences.
	{"equal-deadlines", 6, recordEqualDeadlines},
	{"drain-with-ready-items", 4, recordDrainWithReadyItems},
	{"done-of-ready-item", 3, recordDoneOfReadyItem},
	{"backoff-overflow", 2, recordBackoffOverflow},
	// controller-runtime's priority queue, and deliberate differences from it.
	{"priority", 15, recordPriority},
	{"priority-metrics", 3, recordPriorityMetrics},
	{"priority-readds", 5, recordPriorityReadds},
	{"priority-promotions", 3, recordPriorityPromotions},
	{"priority-shutdown", 3, recordPriorityShutdown},
	{"priority-gauges", 1, recordPriorityGauges},
	// Events during an outage.
	{"outage", 4, recordOutage},
	// The circuit breaker of failsafe-go, and deliberate differences from it.
	{"breaker", 5, recordBreaker},
	{"breaker-differences", 4, recordBreakerDifferences},
}

func TestRecord(t *testing.T) {
	if *out == "" {
		t.Skip("no -out")
	}
	shares := 0
	for _, family := range families {
		shares += family.share
	}
	for number, family := range families {
		count := max(*traces*family.share/shares, 1)
		t.Run(family.name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Appendf(nil, "{\"family\":%q,\"seed\":%d,\"operations\":%s,\"traces\":[\n", family.name, *seed, operationNames())
			for i := range count {
				if i > 0 {
					text = append(text, ",\n"...)
				}
				random := rand.New(rand.NewPCG(*seed, uint64(number)<<32|uint64(i)))
				text = append(text, recordOne(t, family, random, i == 0)...)
			}
			text = append(text, "\n]}\n"...)
			if err := os.WriteFile(filepath.Join(*out, family.name+".json"), text, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// recordOne records a trace in its own bubble, with fake time that starts afresh.
func recordOne(t *testing.T, family family, random *rand.Rand, isFirst bool) []byte {
	trace := &trace{Rand: random, isFirst: isFirst}
	synctest.Test(t, func(*testing.T) { family.record(trace) })
	return trace.json()
}
