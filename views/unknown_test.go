package views

import (
	"fmt"
	"testing"
)

// What Go writes around the type of a method need not be typed;
// what is typed of it must be there.
func TestPartsOfMethods(t *testing.T) {
	names := []string{"go:net/http.(*conn).serve", "go:net/http.(*conn).serve.func1", "go:main.conn.serves", "go:main.(*B).run"}
	for part, want := range map[string]string{
		"conn.serve": "[go:net/http.(*conn).serve]", "(*conn).serve": "[go:net/http.(*conn).serve]", "http.conn": "[go:net/http.(*conn).serve go:net/http.(*conn).serve.func1]",
		"(*B).run": "[go:main.(*B).run]", "(B).run": "[]", "": "[]",
	} {
		if got := fmt.Sprint(parts(names, part)); got != want {
			t.Errorf("%q: %s, want %s", part, got, want)
		}
	}
}
