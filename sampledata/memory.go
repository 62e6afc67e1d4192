package sampledata

import (
	"errors"

	"github.com/cpprof/cpprof/internal/memory"
)

// Estimates of the bytes that a thing takes in the tables of a
// Builder, including its entry in a map.
const (
	stringMemory    = 40 // without its bytes
	functionMemory  = 48 + 80
	nodeMemory      = 16 + 2 + 50
	goroutineMemory = 32 + 4
	siteMemory      = 2*40 + 60
	lockNameMemory  = 32 + 60
	setMemory       = 24 + 80 // without its members
	labelMemory     = 32 + 2
	holderMemory    = 4 + 4
	runMemory       = 12
	longRunMemory   = 8
	stateMemory     = 24 + 28
	stateKindMemory = 2 * 80
	timeMemory      = 20 // of a sample, without its details
	changeMemory    = 2 * 88
	modeMemory      = 40
	monitorMemory   = 400
	wordMemory      = 80
	codeMemory      = 16 // of an entry of a map from code to code
	timedCallMemory = 160

	// The memory of a record while it is decoded, as a multiple
	// of its length. An empty text is the worst case: it has 2
	// bytes, and becomes a slice.
	decodedMemory = 12
)

// A meter compares what a Builder has allocated with a budget.
// Readers use it.
type meter struct {
	budget *memory.Budget
	sets   int64 // bytes of the label sets and holder sets
	taken  int64
}

// charge takes the memory of everything that has been added
// since the last call from the budget.
func (b *Builder) charge() error {
	if b.meter.budget == nil {
		return nil
	}
	size := b.size()
	more := size - b.meter.taken
	b.meter.taken = size
	return b.meter.budget.Take(more)
}

// size returns how much memory a Builder takes, without values
// and calls: the length of a file bounds these.
func (b *Builder) size() int64 {
	r, runs := &b.rec, &b.runs.Runs
	return b.meter.sets + int64(len(r.Functions))*functionMemory +
		int64(len(r.Nodes))*nodeMemory + r.Goroutines.memory() +
		int64(len(r.LockNames))*lockNameMemory + r.Samples.memory() + runs.memory() +
		int64(len(b.tables.monitors.list))*monitorMemory
}

// memory returns how much memory a part of a ring takes.
func (p *ringPart) memory() int64 {
	size := p.Builder.size() + int64(len(p.functions)+len(p.nodes)+len(p.origins))*4 +
		int64(len(p.goroutines)+len(p.labelSets)+len(p.holderSets))*codeMemory
	for i := range p.Builder.rec.Series {
		s := &p.Builder.rec.Series[i]
		size += int64(len(s.column.full)*columnChunk+len(s.column.data)) +
			int64(len(s.Words))*wordMemory
	}
	for i := range p.Builder.rec.Calls {
		t := &p.Builder.rec.Calls[i]
		size += int64(len(t.Calls)) * (timedCallMemory + int64(len(t.Arguments))*8)
	}
	return size
}

func (r *Runs) memory() int64 {
	return int64(r.Len())*runMemory + int64(r.list.long.len())*longRunMemory +
		int64(r.states.list.len())*stateMemory + int64(r.states.kinds.len())*stateKindMemory
}

func (s *Samples) memory() int64 {
	return int64(s.Len())*timeMemory + int64(len(s.encoded)) + int64(len(s.processors))*4
}

// tooLarge reports whether an error says that reading needs too
// much memory. Readers then return no recording, not even a
// part.
func tooLarge(err error) bool {
	var over *memory.Error
	return errors.As(err, &over)
}
