package views

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
)

// Every goroutine of the recording comes from one site of one class.
func TestCreationSitesCountEveryGoroutine(t *testing.T) {
	r := synthetic.Recording(50, 200, 0.2)
	for _, by := range []ClassBy{{}, {Site: true}} {
		classes := fixture.Must(Classes(r, Options{Classes: by}))(t)
		total := 0
		for _, c := range classes {
			n := 0
			for _, s := range CreationSites(r, Options{Classes: by}, c.Class) {
				n += s.Goroutines
				if s.File != "/src/main.go" || s.Function != "main.main" {
					t.Errorf("%s: created at %+v", c.Class, s)
				}
			}
			if n != c.Goroutines {
				t.Errorf("%s: %d goroutines have a site, of %d", c.Class, n, c.Goroutines)
			}
			total += n
		}
		if total != r.Goroutines.Len() {
			t.Errorf("%d goroutines have a site, of %d", total, r.Goroutines.Len())
		}
	}
	if sites := CreationSites(r, Options{}, "go:main.nobody"); len(sites) != 0 {
		t.Errorf("nobody is created at %v", sites)
	}
}
