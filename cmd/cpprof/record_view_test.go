package main

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// What is shown while a recording grows is what its files have.
func TestTee(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "r.cpprof")
	w, err := sampledata.Create(folder, synthetic.Header())
	if err != nil {
		t.Fatal(err)
	}
	both := tee{w, sampledata.NewBuilder(synthetic.Header())}
	both.Warn("test", "a warning", 3)
	if err := synthetic.Record(both, 200, 50, 0.2); err != nil {
		t.Fatal(err)
	}
	file, err := sampledata.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if shown := both.live.Recording(); !reflect.DeepEqual(file, shown) {
		t.Errorf("the files have\n%+v\nand what is shown is\n%+v", file.Stats(), shown.Stats())
	}
}
