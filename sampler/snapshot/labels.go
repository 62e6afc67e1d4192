//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
)

// Bounds of what is believed of labels.
const (
	maxLabels    = 256
	maxLabelText = 4096
)

// labelsOf gives the code of a goroutine's labels. They are read when the goroutine gets others: what a goroutine
// points to stays as it is.
func (b *Backend) labelsOf(s *slot) sampledata.LabelSetID {
	if s.head.labels == s.labelsAt {
		return s.labels
	}
	s.labels, s.labelsAt = 0, s.head.labels
	if s.head.labels != 0 {
		if set := b.readLabels(s.head.labels); len(set) > 0 {
			s.labels = b.stacks.sink.LabelSet(set)
		}
	}
	return s.labels
}

// readLabels reads a label set out of the running target. What can't be read is left out: the goroutine may have got
// other labels, or ended, since the halt.
func (b *Backend) readLabels(at uint64) []sampledata.Label {
	var set []sampledata.Label
	if b.t.bin.Release.LabelsAreList() {
		set = b.labelList(at)
	} else {
		set = b.labelMap(at)
	}
	slices.SortFunc(set, func(x, y sampledata.Label) int { return cmp.Compare(x.Key, y.Key) })
	return set
}

// labelList reads a slice of pairs of strings.
func (b *Backend) labelList(at uint64) []sampledata.Label {
	var h [16]byte
	if b.t.Read(at, h[:]) != nil {
		return nil
	}
	list := make([]byte, 32*min(binary.LittleEndian.Uint64(h[8:]), maxLabels))
	if b.t.Read(binary.LittleEndian.Uint64(h[:]), list) != nil {
		return nil
	}
	var set []sampledata.Label
	for ; len(list) > 0; list = list[32:] {
		set = b.label(set, list, list[16:])
	}
	return set
}

// label appends a label whose key and value have their string headers in the copy.
func (b *Backend) label(set []sampledata.Label, key, value []byte) []sampledata.Label {
	k, ok := b.labelText(key)
	if !ok || k == "" {
		return set
	}
	v, ok := b.labelText(value)
	if !ok {
		return set
	}
	return append(set, sampledata.Label{Key: k, Value: v})
}

func (b *Backend) labelText(header []byte) (string, bool) {
	n := binary.LittleEndian.Uint64(header[8:])
	if n > maxLabelText {
		n = maxLabelText
	}
	text := make([]byte, n)
	if b.t.Read(binary.LittleEndian.Uint64(header), text) != nil {
		return "", false
	}
	return string(bytes.ToValidUTF8(text, []byte("?"))), true
}

// labelMap reads a map of strings.
func (b *Backend) labelMap(at uint64) []sampledata.Label {
	m, err := b.t.word(at)
	var h [goruntime.MapHeader]byte
	if err != nil || b.t.Read(m, h[:]) != nil || h[goruntime.MapLogBuckets] > 8 {
		return nil
	}
	// Maps of labels are made whole, and never grow afterwards.
	var set []sampledata.Label
	first := binary.LittleEndian.Uint64(h[goruntime.MapBuckets:])
	for i := range uint64(1) << h[goruntime.MapLogBuckets] {
		bucket := make([]byte, goruntime.BucketSize)
		for next, n := first+i*goruntime.BucketSize, 0; next != 0 && n < maxLabels; n++ {
			if b.t.Read(next, bucket) != nil {
				break
			}
			for k := range goruntime.BucketSlots {
				if bucket[k] >= goruntime.BucketFirstUsedTop && len(set) < maxLabels {
					set = b.label(set, bucket[goruntime.BucketKeys+16*k:], bucket[goruntime.BucketValues+16*k:])
				}
			}
			next = binary.LittleEndian.Uint64(bucket[goruntime.BucketNext:])
		}
	}
	return set
}
