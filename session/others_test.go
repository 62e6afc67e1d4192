package session

import (
	"errors"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A recording is read once, whatever its path is written as; one that can't be read is tried again.
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
	if !o.tell("b.cpprof") || o.tell("./b.cpprof") {
		t.Error("the first time is not told from the second")
	}
	newer := new(sampledata.Recording)
	o.Add("b.cpprof", newer)
	if again, _ := o.Open("b.cpprof"); again != newer || reads != 2 {
		t.Errorf("after another one was added, it is read %d times", reads)
	}
	if !o.tell("b.cpprof") {
		t.Error("nothing is told of a newer recording")
	}
}
