//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// Limits on labels, since the target's memory is not trusted.
const (
	maxLabels    = 256
	maxLabelText = 4096
)

// labels reads the goroutines' labels from the running target.
type labels struct{ t *target }

// labelsOf returns the code of a goroutine's labels. They are
// read only when the goroutine gets other labels: a label set
// does not change.
func (r *reporter) labelsOf(s *slot) sampledata.LabelSetID {
	if s.head.labels == s.labelsAt {
		return s.labels
	}
	s.labels, s.labelsAt = 0, s.head.labels
	if s.head.labels != 0 {
		if set := r.labels.read(s.head.labels); len(set) > 0 {
			s.labels = r.stacks.sink.LabelSet(set)
		}
	}
	return s.labels
}

// read reads a label set. It leaves out what it can't read:
// since the halt, the goroutine may have got other labels or
// ended.
func (l labels) read(at uint64) []sampledata.Label {
	var set []sampledata.Label
	if l.t.bin.Release.LabelsAreList() {
		set = l.list(at)
	} else {
		set = l.hashMap(at)
	}
	slices.SortFunc(set, func(x, y sampledata.Label) int { return cmp.Compare(x.Key, y.Key) })
	return set
}

// list reads a slice of pairs of strings.
func (l labels) list(at uint64) []sampledata.Label {
	var h [16]byte
	if l.t.Read(at, h[:]) != nil {
		return nil
	}
	list := make([]byte, 32*min(binary.LittleEndian.Uint64(h[8:]), maxLabels))
	if l.t.Read(binary.LittleEndian.Uint64(h[:]), list) != nil {
		return nil
	}
	var set []sampledata.Label
	for ; len(list) > 0; list = list[32:] {
		set = l.add(set, list, list[16:])
	}
	return set
}

// add appends a label, given the copies of its key's and value's
// string headers.
func (l labels) add(set []sampledata.Label, key, value []byte) []sampledata.Label {
	k, ok := l.text(key)
	if !ok || k == "" {
		return set
	}
	v, ok := l.text(value)
	if !ok {
		return set
	}
	return append(set, sampledata.Label{Key: k, Value: v})
}

// text reads a string, given its header.
func (l labels) text(header []byte) (string, bool) {
	text := make([]byte, min(binary.LittleEndian.Uint64(header[8:]), maxLabelText))
	if l.t.Read(binary.LittleEndian.Uint64(header), text) != nil {
		return "", false
	}
	return string(bytes.ToValidUTF8(text, []byte("?"))), true
}

// hashMap reads a map of strings.
func (l labels) hashMap(at uint64) []sampledata.Label {
	m, err := l.t.word(at)
	var h [goruntime.MapHeader]byte
	if err != nil || l.t.Read(m, h[:]) != nil || h[goruntime.MapLogBuckets] > 8 {
		return nil
	}
	// Maps of labels are created complete and never grow afterwards.
	var set []sampledata.Label
	first := binary.LittleEndian.Uint64(h[goruntime.MapBuckets:])
	for i := range uint64(1) << h[goruntime.MapLogBuckets] {
		bucket := make([]byte, goruntime.BucketSize)
		for next, n := first+i*goruntime.BucketSize, 0; next != 0 && n < maxLabels; n++ {
			if l.t.Read(next, bucket) != nil {
				break
			}
			for k := range goruntime.BucketSlots {
				if bucket[k] >= goruntime.BucketFirstUsedTop && len(set) < maxLabels {
					set = l.add(set, bucket[goruntime.BucketKeys+16*k:],
						bucket[goruntime.BucketValues+16*k:])
				}
			}
			next = binary.LittleEndian.Uint64(bucket[goruntime.BucketNext:])
		}
	}
	return set
}
