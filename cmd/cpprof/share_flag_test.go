package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// For each flag and text, the table has the exact value, or a
// part of the error.
func TestShareFlags(t *testing.T) {
	const (
		atMost = "100% at most"
		want   = "want a share such as 5% or 0.05"
	)
	shares := map[string]string{
		"5%": "1/20", "5 %": "1/20", " 0.05": "1/20", "0": "0", "1": "1", "100%": "1", "0.5%": "1/200",
		"500%": atMost, "200%": atMost, "5": "for 5 percent write 5%", "10": "for 10 percent write 10%", "1.01": "100% at most",
		"-5%": want, "much": want, "": want, "1e-2": want, "10 hits": want, "NaN": want, "1/20": want,
	}
	wants := map[string]map[string]string{
		"coverage": shares, "fail-above": shares, "max-overhead": shares, "probe-overhead": shares, "jitter": shares,
		"max-cpu": {
			"5%": "1/20", "5 %": "1/20", "0.05": "1/20", "0": "0", "150%": "3/2", "2": "2",
			"-5%": want, "much": want, "": want, "1e3": want, "Inf": want,
		},
	}
	found := map[string]bool{}
	everyCommand(func(c *cobra.Command) {
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if _, ok := flag.Value.(*shareFlag); !ok {
				if wants[flag.Name] != nil {
					t.Errorf("%s --%s is not a shareFlag", c.CommandPath(), flag.Name)
				}
				return
			}
			found[flag.Name] = true
			for text, want := range wants[flag.Name] {
				checkShareFlag(t, c, flag, text, want)
			}
		})
	})
	for name := range wants {
		if !found[name] {
			t.Errorf("no command has --%s", name)
		}
	}
	for name := range found {
		if wants[name] == nil {
			t.Errorf("--%s is not in the table", name)
		}
	}
}

func checkShareFlag(t *testing.T, c *cobra.Command, flag *pflag.Flag, text, want string) {
	t.Helper()
	f := flag.Value.(*shareFlag)
	before := *f
	err := c.Flags().Set(flag.Name, text)
	got := ""
	if err == nil {
		got = f.value.RatString()
	}
	switch {
	case err == nil && got != want:
		t.Errorf("%s --%s %q is %s, want %s", c.CommandPath(), flag.Name, text, got, want)
	case err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--"+flag.Name+`" flag`) ||
		!strings.Contains(err.Error(), `"`+text+`"`)):
		t.Errorf("%s --%s %q: %v; want the flag, the value, and %q", c.CommandPath(), flag.Name, text, err, want)
	}
	*f = before
}

// A wrong share is a usage error, which comes before any file is
// opened or any process is touched.
func TestWrongSharesAreUsageErrors(t *testing.T) {
	refuses(t, []refusal{
		{"report none.cpprof --server --min 500%", exitUsage, `"500%" for "--min" flag: threshold "500%": a cost is a fraction of the whole`},
		{"view none.cpprof --min many", exitUsage, `for "--min" flag: threshold "many": want hits (10) or a cost (0.05, 5%)`},
		{"find none.cpprof --server --coverage 120%", exitUsage, `for "--coverage" flag: a share is 100% at most`},
		{"report xtree none.cpprof --server --min 10", exitUsage, `--min 10: want a cost`},
		{"record --max-overhead 200% -- true", exitUsage, `"200%" for "--max-overhead" flag: a share is 100% at most`},
		{"top -p 1 --max-cpu much", exitUsage, `"much" for "--max-cpu" flag: want a share`},
	})
}
