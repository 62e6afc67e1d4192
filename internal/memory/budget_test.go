package memory

import (
	"errors"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestBudget(t *testing.T) {
	b := NewBudget(100)
	fixture.Check(t, b.Take(60))
	fixture.Check(t, b.Fits(40))
	var over *Error
	if err := b.Fits(41); !errors.As(err, &over) || over.Max != 100 {
		t.Errorf("got %v", err)
	}
	fixture.Check(t, b.Take(40))
	if b.Take(1) == nil {
		t.Error("101 of 100 bytes taken")
	}
	if err := (*Budget)(nil).Take(1 << 60); err != nil {
		t.Error(err)
	}
	if Default() < 1<<20 {
		t.Errorf("a quarter of the machine's memory is %d bytes", Default())
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"1": 1, "3kb": 3 << 10, "512MB": 512 << 20, "2GB": 2 << 30} {
		var s Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "0", "-1GB", "GB", "9999999999GB", "1 GB", "1TB"} {
		var s Size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is %d", text, s)
		}
	}
	for s, want := range map[Size]string{0: "", 1: "1", 1536: "1536", 2 << 20: "2MB", 3 << 30: "3GB"} {
		if got := s.String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
		}
	}
}
