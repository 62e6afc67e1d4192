package why

import (
	"regexp"
	"testing"
)

// Each kind has words, and a command that shows its share.
func TestKinds(t *testing.T) {
	if len(kinds) < 12 {
		t.Fatalf("there are only %d kinds", len(kinds))
	}
	names := regexp.MustCompile(`\{(\w+)\}`)
	known := regexp.MustCompile(`^(who|class|place|share|mean|lock|waits|reason|parts|growth|circle|calls|stuck|made|each|slow|leak|ends|waited|left)$`)
	for name, k := range kinds {
		if k.Says == "" || k.Remedy == "" && name != CrowdedKind {
			t.Errorf("%s has no words", name)
		}
		if (k.measure == nil) && k.See == "" {
			t.Errorf("%s has neither a measure nor a command", name)
		}
		if sentence := k.Says[len(k.Says)-1] == '.'; sentence != k.ofProcessors && name != LeakKind && name != DeadlockKind && name != StandstillKind && name != LeftKind {
			t.Errorf("%s: %q: a sentence says a share of the processors, and nothing else", name, k.Says)
		}
		for _, m := range names.FindAllStringSubmatch(k.Says+k.Because+k.Own, -1) {
			if !known.MatchString(m[1]) {
				t.Errorf("%s: {%s} is nothing that a finding has", name, m[1])
			}
		}
	}
}
