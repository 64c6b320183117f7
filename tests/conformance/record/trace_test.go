package record

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// An operation is written as its index among the names at the head of each file.
type operation int

const (
	opAdd operation = iota
	opGet
	opDone
	opWait
	opShutDown
	opDrain
	opAddAfter
	opAddRateLimited
	opForget
	opNumRequeues
	opTakeAll
	opWhen
	opFail
	opAllow
	opReserve
	opDelay
	opCancel
	opSetRate
	opSetBurst
	opTokens
	opGetLater
	opServed
	opShutDownAgain
	opDepths
	opAcquire
	opEnd
	opOutage
)

func operationNames() []byte {
	names, err := json.Marshal([]string{
		opAdd:            "add",
		opGet:            "get",
		opDone:           "done",
		opWait:           "wait",
		opShutDown:       "shutDown",
		opDrain:          "drain",
		opAddAfter:       "addAfter",
		opAddRateLimited: "addRateLimited",
		opForget:         "forget",
		opNumRequeues:    "numRequeues",
		opTakeAll:        "takeAll",
		opWhen:           "when",
		opFail:           "fail",
		opAllow:          "allow",
		opReserve:        "reserve",
		opDelay:          "delay",
		opCancel:         "cancel",
		opSetRate:        "setRate",
		opSetBurst:       "setBurst",
		opTokens:         "tokens",
		opGetLater:       "getLater",
		opServed:         "served",
		opShutDownAgain:  "shutDownAgain",
		opDepths:         "depths",
		opAcquire:        "acquire",
		opEnd:            "end",
		opOutage:         "outage",
	})
	if err != nil {
		panic(err)
	}
	return names
}

// A trace is a random sequence of operations with their results. The methods of [rand.Rand] make the random choices.
type trace struct {
	*rand.Rand
	text []byte
	// isFirst reports whether the trace is the first of its family.
	isFirst bool
}

// write appends values to the trace. Durations are in nanoseconds.
func (t *trace) write(values ...any) {
	for _, value := range values {
		if len(t.text) > 0 {
			t.text = append(t.text, ',')
		}
		switch value := value.(type) {
		case operation:
			t.text = strconv.AppendInt(t.text, int64(value), 10)
		case int:
			t.text = strconv.AppendInt(t.text, int64(value), 10)
		case time.Duration:
			t.text = strconv.AppendInt(t.text, int64(value), 10)
		case float64:
			if math.IsNaN(value) || math.IsInf(value, 0) {
				panic("not a number of JSON")
			}
			t.text = strconv.AppendFloat(t.text, value, 'g', -1, 64)
		case bool:
			if value {
				t.text = append(t.text, '1')
			} else {
				t.text = append(t.text, '0')
			}
		case limiterSpec:
			text, err := json.Marshal(value)
			if err != nil {
				panic(err)
			}
			t.text = append(t.text, text...)
		default:
			panic(fmt.Sprintf("cannot write a %T", value))
		}
	}
}

func (t *trace) json() []byte {
	return fmt.Appendf(nil, "[%s]", t.text)
}

// between returns a random number from low to high, inclusive.
func (t *trace) between(low, high int) int {
	return low + t.IntN(high-low+1)
}

// chance returns true with this probability in percent.
func (t *trace) chance(percent float64) bool {
	return t.Float64()*100 < percent
}

// duration returns a random duration from unit to less than limit, with all magnitudes equally likely.
func (t *trace) duration(unit, limit time.Duration) time.Duration {
	magnitude := math.Exp(t.Float64() * math.Log(float64(limit)/float64(unit)))
	return time.Duration(magnitude) * unit
}

// A choice is an action with its weight relative to other choices.
type choice struct {
	weight float64
	do     func()
}

// choose runs a random one of several choices.
func (t *trace) choose(choices ...choice) {
	total := 0.0
	for _, choice := range choices {
		total += choice.weight
	}
	at := t.Float64() * total
	for _, choice := range choices {
		if at -= choice.weight; at < 0 {
			choice.do()
			return
		}
	}
}
