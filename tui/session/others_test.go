package session

import (
	"errors"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A recording is read once, even by paths that are written
// differently. One that couldn't be read is read again.
func TestOthersAreReadOnce(t *testing.T) {
	reads, err := 0, errors.New("not there")
	o := NewOthers(func(string) (*sampledata.Recording, error) { reads++; return new(sampledata.Recording), err })
	if _, got := o.Open("b.cpprof"); got != err {
		t.Errorf("the error is %v", got)
	}
	err = nil
	first, _ := o.Open("b.cpprof")
	if again, _ := o.Open("./b.cpprof"); again != first || reads != 2 {
		t.Errorf("it is read %d times", reads)
	}
	if !o.firstMention("b.cpprof") || o.firstMention("./b.cpprof") {
		t.Error("firstMention doesn't distinguish the first call from the second")
	}
	newer := new(sampledata.Recording)
	o.Add("b.cpprof", newer)
	if again, _ := o.Open("b.cpprof"); again != newer || reads != 2 {
		t.Errorf("after another one was added, it is read %d times", reads)
	}
	if !o.firstMention("b.cpprof") {
		t.Error("the first mention of a newer recording doesn't count as the first")
	}
}
