package sampledata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"time"
)

// Samples are the samples of a recording, in order of their
// times. A recording can have millions. A sample takes 20 bytes,
// and its details some more, as varints, unless they equal the
// previous sample's.
type Samples struct {
	times      chunked[time.Duration]
	before     chunked[time.Duration] // by sample: the weights of all samples before it
	details    chunked[uint32]        // by sample: where its details begin in encoded
	encoded    []byte
	processors []GoroutineID // of all samples
}

// Len returns the number of samples.
func (s *Samples) Len() int { return s.times.len() }

// Time returns the time of a sample, by its number from 0 up.
func (s *Samples) Time(i int) time.Duration { return *s.times.at(i) }

// Search returns the number of the first sample that is not
// before the given time; Len if there is none.
func (s *Samples) Search(at time.Duration) int {
	return sort.Search(s.Len(), func(i int) bool { return s.Time(i) >= at })
}

// At returns a sample by its number, from 0 up. Its Processors
// are shared and must not be modified.
func (s *Samples) At(i int) Sample {
	var d details
	rest := s.encoded[*s.details.at(i):]
	present := binary.LittleEndian.Uint16(rest)
	rest = rest[2:]
	for k := range d {
		if present&(1<<k) != 0 {
			v, n := uvarint(rest)
			d[k], rest = v, rest[n:]
		}
	}
	var processors []GoroutineID
	if n := d[detailProcessors]; n > 0 {
		processors = s.processors[d[detailFirst]:][:n:n]
	}
	return Sample{
		Time: s.Time(i), Halt: time.Duration(d[detailHalt]), Processors: processors,
		Threads:      int32(d[detailThreads]),
		StoppedWorld: d[detailFlags]&flagStopped != 0,
		Collecting:   d[detailFlags]&flagCollecting != 0,
		Missed:       int32(d[detailMissed]), SamplerCPU: time.Duration(d[detailCPU]),
		Reused:    int32(d[detailReused]),
		Rechecked: int32(d[detailRechecked]), Wrong: int32(d[detailWrong]),
		LostHalt: time.Duration(d[detailLostHalt]),
		Weight:   time.Duration(d[detailWeight]), Suspended: time.Duration(d[detailSuspended]),
	}
}

// All returns the samples with their numbers, in order.
func (s *Samples) All() iter.Seq2[int, Sample] {
	return func(yield func(int, Sample) bool) {
		for i := range s.Len() {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// The details of a sample. Their encoding begins with two bytes
// that have a bit for each detail that is not 0. These details
// follow, in this order.
const (
	detailHalt       = iota
	detailProcessors // how many
	detailFirst      // where they begin in Samples.processors
	detailThreads
	detailFlags
	detailMissed
	detailCPU
	detailReused
	detailRechecked
	detailWrong
	detailLostHalt
	detailWeight
	detailSuspended
	numDetails

	maxDetails = 2 + numDetails*binary.MaxVarintLen64
)

type details [numDetails]uint64

const (
	flagStopped = 1 << iota
	flagCollecting
)

// room returns an error if there is no room for another sample.
func (s *Samples) room() error {
	if int64(len(s.encoded)) > math.MaxUint32-maxDetails {
		return fmt.Errorf("the samples before it take more than %d bytes: record for a shorter time, or at a lower rate", int64(math.MaxUint32))
	}
	return nil
}

// add adds a sample, for which there is room.
func (s *Samples) add(a *Sample) {
	var last Sample
	if n := s.Len(); n > 0 {
		last = s.At(n - 1)
	}
	if !slices.Equal(last.Processors, a.Processors) {
		s.processors = append(s.processors, a.Processors...)
	}
	d := details{
		detailHalt: uint64(a.Halt), detailProcessors: uint64(len(a.Processors)),
		detailThreads: uint64(a.Threads), detailFlags: a.flags(),
		detailMissed: uint64(a.Missed), detailCPU: uint64(a.SamplerCPU),
		detailReused:    uint64(a.Reused),
		detailRechecked: uint64(a.Rechecked), detailWrong: uint64(a.Wrong),
		detailLostHalt: uint64(a.LostHalt),
		detailWeight:   uint64(a.Weight), detailSuspended: uint64(a.Suspended),
	}
	if len(a.Processors) > 0 {
		d[detailFirst] = uint64(len(s.processors) - len(a.Processors))
	}
	s.details.add(s.addDetails(&d))
	s.before.add(s.beforeNext(&last, a))
	s.times.add(a.Time)
}

// addDetails adds details and returns where they begin in
// s.encoded. If they equal the previous sample's, it adds
// nothing and returns the earlier place.
func (s *Samples) addDetails(d *details) uint32 {
	begin := len(s.encoded)
	s.encoded = d.append(s.encoded)
	if s.details.len() > 0 {
		if before := *s.details.last(); bytes.Equal(s.encoded[before:begin], s.encoded[begin:]) {
			s.encoded = s.encoded[:begin]
			return before
		}
	}
	return uint32(begin)
}

func (d *details) append(b []byte) []byte {
	begin := len(b)
	b = append(b, 0, 0)
	present := uint16(0)
	for k, v := range d {
		if v != 0 {
			present |= 1 << k
			b = binary.AppendUvarint(b, v)
		}
	}
	binary.LittleEndian.PutUint16(b[begin:], present)
	return b
}

func (a *Sample) flags() (flags uint64) {
	if a.StoppedWorld {
		flags |= flagStopped
	}
	if a.Collecting {
		flags |= flagCollecting
	}
	return flags
}

// clip returns the samples so far. Those that are added to s
// later do not change the result.
func (s *Samples) clip() Samples {
	return Samples{s.times.clip(), s.before.clip(), s.details.clip(), slices.Clip(s.encoded),
		slices.Clip(s.processors)}
}
