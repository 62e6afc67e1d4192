package gostate

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Limits on labels, since the target's memory is not trusted.
const (
	maxLabels    = 256
	maxLabelText = 4096
)

// labels is a label set that is being read.
type labels struct {
	read func(at uint64, b []byte) error
	set  []sampledata.Label
	lost bool // a part can't be read
}

// Labels reads a goroutine's label set at an address: a list of
// pairs of strings, or a map, up to Go 1.23. It leaves out what
// it can't read, and returns false then.
func Labels(read func(at uint64, b []byte) error, at uint64, areList bool) (
	set []sampledata.Label, whole bool) {
	l := labels{read: read}
	if areList {
		l.list(at)
	} else {
		l.hashMap(at)
	}
	slices.SortFunc(l.set, func(x, y sampledata.Label) int { return cmp.Compare(x.Key, y.Key) })
	return l.set, !l.lost
}

// get reads memory, and returns false if it can't.
func (l *labels) get(at uint64, b []byte) bool {
	ok := l.read(at, b) == nil
	l.lost = l.lost || !ok
	return ok
}

// list reads a slice of pairs of strings.
func (l *labels) list(at uint64) {
	var h [16]byte
	if !l.get(at, h[:]) {
		return
	}
	list := make([]byte, 32*min(memory.Word(h[:], 8), maxLabels))
	if !l.get(memory.Word(h[:], 0), list) {
		return
	}
	for ; len(list) > 0; list = list[32:] {
		l.add(list, list[16:])
	}
}

// add appends a label, given the copies of its key's and value's
// string headers.
func (l *labels) add(key, value []byte) {
	k, readKey := l.text(key)
	v, readValue := l.text(value)
	if readKey && readValue && k != "" {
		l.set = append(l.set, sampledata.Label{Key: k, Value: v})
	}
}

// text reads a string, given its header.
func (l *labels) text(header []byte) (string, bool) {
	text := make([]byte, min(memory.Word(header, 8), maxLabelText))
	if !l.get(memory.Word(header, 0), text) {
		return "", false
	}
	return string(bytes.ToValidUTF8(text, []byte("?"))), true
}

// hashMap reads a map of strings.
func (l *labels) hashMap(at uint64) {
	var m [8]byte
	var h [goruntime.MapHeader]byte
	if !l.get(at, m[:]) || !l.get(memory.Word(m[:], 0), h[:]) || h[goruntime.MapLogBuckets] > 8 {
		return
	}
	// Maps of labels are created complete and never grow afterwards.
	first := memory.Word(h[:], goruntime.MapBuckets)
	for i := range uint64(1) << h[goruntime.MapLogBuckets] {
		bucket := make([]byte, goruntime.BucketSize)
		for next, n := first+i*goruntime.BucketSize, 0; next != 0 && n < maxLabels; n++ {
			if !l.get(next, bucket) {
				break
			}
			for k := range goruntime.BucketSlots {
				if bucket[k] >= goruntime.BucketFirstUsedTop && len(l.set) < maxLabels {
					l.add(bucket[goruntime.BucketKeys+16*k:], bucket[goruntime.BucketValues+16*k:])
				}
			}
			next = memory.Word(bucket, goruntime.BucketNext)
		}
	}
}
