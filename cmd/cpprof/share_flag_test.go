package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// For each flag and text, the table has the exact value, or a part of the error.
func TestShareFlags(t *testing.T) {
	const (
		atMost = "100% at most"
		want   = "want a share such as 5% or 0.05"
		hits   = "want a number of hits such as 10"
		notNum = hits + ", not a share; a share of the whole is --min-cost"
	)
	shares := map[string]string{
		"5%": "1/20", "5 %": "1/20", " 0.05": "1/20", "0": "0", "1": "1", "100%": "1", "0.5%": "1/200",
		"500%": atMost, "200%": atMost, "5": "for 5 percent write 5%", "10": "for 10 percent write 10%", "1.01": "100% at most",
		"-5%": want, "much": want, "": want, "1e-2": want, "10 hits": want, "NaN": want, "1/20": want,
	}
	cost := map[string]string{}
	for text, result := range shares {
		cost[text] = result
	}
	cost["10"] = "--min-hits"
	wants := map[string]map[string]string{
		"coverage": shares, "threshold": shares, "fail-above": shares, "min-cum": shares, "max-overhead": shares, "probe-overhead": shares, "jitter": shares, "min-cost": cost,
		"max-cpu": {
			"5%": "1/20", "5 %": "1/20", "0.05": "1/20", "0": "0", "150%": "3/2", "2": "2",
			"-5%": want, "much": want, "": want, "1e3": want, "Inf": want,
		},
		"min-hits": {
			"10": "10", "0": "0", "0.5": "1/2", "10 hits": "10", "1 hit": "1",
			"5%": notNum, "5 %": notNum, "500%": notNum, "many": hits, "": hits, "-1": hits, "1e9": hits,
			"99999999999999999999": "more hits than can be counted",
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

// A wrong share is a usage error, which comes before any file is opened or any process is touched.
func TestWrongSharesAreUsageErrors(t *testing.T) {
	refuses(t, []refusal{
		{"report none.cpprof --server --min-hits 5%", exitUsage, `invalid argument "5%" for "--min-hits" flag: want a number of hits such as 10, not a share; a share of the whole is --min-cost`},
		{"report none.cpprof --server --min-cost 500%", exitUsage, `"500%" for "--min-cost" flag: a share is 100% at most`},
		{"view none.cpprof --min-cost 10", exitUsage, `for "--min-cost" flag`},
		{"find none.cpprof --server --coverage 120%", exitUsage, `for "--coverage" flag: a share is 100% at most`},
		{"report xtree none.cpprof --server --min-cum much", exitUsage, `for "--min-cum" flag: want a share`},
		{"record --max-overhead 200% -- true", exitUsage, `"200%" for "--max-overhead" flag: a share is 100% at most`},
		{"top -p 1 --max-cpu much", exitUsage, `"much" for "--max-cpu" flag: want a share`},
	})
}
