// Command linear checks whether the history of each key of a queue is linearizable. It reads operations as JSON lines
// from its input, and prints the keys whose histories are not.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// Longest time for the history of a key.
const timeout = time.Minute

// operation is an operation on a key, with the numbers of the lines of its call and of its reply.
type operation struct {
	Key string
	// Do is "add", "take" or "finish", or "maybe add" for a call that may have been repeated.
	Do     string
	Token  int64
	Counts *bool // answer to a finish; nil if nobody got it
	Call   int64
	Return *int64 // nil if there was no reply
}

// state is the state of a key: idle, ready, or processing with a token, and maybe added again.
type state struct {
	ready   bool
	holder  int64
	again   bool
	highest int64
}

func (s state) add() state {
	if s.holder != 0 {
		s.again = true
	} else {
		s.ready = true
	}
	return s
}

// finish returns the state after a finish that counts.
func (s state) finish() state {
	s.ready, s.holder, s.again = s.again, 0, false
	return s
}

// step returns the states that a key may have after an operation; none if the operation is impossible.
func step(from, input, _ any) []any {
	s, op := from.(state), input.(operation)
	switch op.Do {
	case "add":
		return []any{s.add()}
	case "maybe add":
		return []any{s, s.add()}
	case "take":
		if !s.ready || op.Token <= s.highest {
			return nil
		}
		return []any{state{holder: op.Token, highest: op.Token}}
	case "finish":
		var after []any
		if s.holder == op.Token && (op.Counts == nil || *op.Counts) {
			after = append(after, s.finish())
		}
		if op.Counts == nil || (!*op.Counts && s.holder != op.Token) {
			after = append(after, s)
		}
		return after
	}
	panic("unknown operation " + op.Do)
}

func read(input io.Reader) (map[string][]porcupine.Operation, error) {
	histories := map[string][]porcupine.Operation{}
	for decoder := json.NewDecoder(input); ; {
		var op operation
		if err := decoder.Decode(&op); errors.Is(err, io.EOF) {
			return histories, nil
		} else if err != nil {
			return nil, err
		}
		end := int64(math.MaxInt64)
		if op.Return != nil {
			end = *op.Return
		}
		histories[op.Key] = append(histories[op.Key], porcupine.Operation{Input: op, Call: op.Call, Return: end})
	}
}

func main() {
	histories, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	queue := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: step,
	}
	model := queue.ToModel()
	for key, history := range histories {
		if result := porcupine.CheckOperationsTimeout(model, history, timeout); result != porcupine.Ok {
			fmt.Printf("%s: %s\n", key, result)
		}
	}
}
