package syncflow

import "testing"

// The compiler lets variables share a place in the frame. A
// callee changes a word only if it can have the word's address:
// from a register, or from another word.
func TestKillExposed(t *testing.T) {
	const at, other = -8, -64
	for name, c := range map[string]struct {
		expose func(w *flow, s *state)
		kept   bool
	}{
		"nobody has its address": {func(*flow, *state) {}, true},
		"a register has it":      {func(w *flow, s *state) { s.regs[3] = w.values.frame(at) }, false},
		"another word has it":    {func(w *flow, s *state) { s.setSlot(other, w.values.frame(at)) }, false},
		"a register has another": {func(w *flow, s *state) { s.regs[3] = w.values.frame(other) }, true},
	} {
		w := &flow{values: newValues(), addressTaken: map[int64]bool{at: true}}
		s := &state{}
		s.setSlot(at, w.values.entry(0))
		c.expose(w, s)
		w.killExposed(s)
		if got := s.slot(at) != 0; got != c.kept {
			t.Errorf("%s: kept %v, want %v", name, got, c.kept)
		}
	}
}
