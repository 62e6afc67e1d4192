package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/synthetic"
)

// What ran in a container says in which one; other targets say nothing of it.
func TestInfoContainer(t *testing.T) {
	const id = "4f5e0e7c9b1c"
	for _, container := range []string{id, ""} {
		r := synthetic.Recording(20, 10, 0.3)
		r.Header.Container = container
		var text, asJSON strings.Builder
		if err := Info(&text, "run.cpprof", r); err != nil {
			t.Fatal(err)
		}
		if err := InfoJSON(&asJSON, r); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(asJSON.String()), &got); err != nil {
			t.Fatal(err)
		}
		said, ok := got["container"]
		if strings.Contains(text.String(), "in the container "+id) != (container != "") ||
			ok != (container != "") || ok && said != id {
			t.Errorf("container %q: %v,\n%s", container, said, text.String())
		}
	}
}
