package main

import (
	"os"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/spf13/cobra"
)

// formerCommands has the words that replace the name of a former command.
var formerCommands = map[string][]string{
	"aspects":     {"report", "aspects"},
	"bottlenecks": {"find", "--interactive"},
	"correlate":   {"monitors", "correlate"},
	"dump":        {"export", "--to", "text", "-o", "-"},
	"perturb":     {"monitors", "perturb"},
	"plot":        {"monitors", "plot"},
	"suggest":     {"monitors", "suggest"},
	"undump":      {"import"},
	"version":     {"--version"},
}

// formerFlags says what replaces a former flag.
var formerFlags = map[string]string{
	"accounting": "a setting now: --set accounting=RULE",
	"aspect":     "a setting now: --set aspects.NAME=PATTERN,PATTERN",
	"builtin":    "without a recording, 'cpprof report aspects' prints the built-in ones",
	"color":      "the environment decides: NO_COLOR=1, CLICOLOR_FORCE=1",
	"define":     "a setting now: --set metrics.NAME=EXPR",
	"from":       "one flag now: --span FROM,TO",
	"full-names": "names are shortened on a terminal only: | cat has them in full",
	"list":       "a setting now: --set lists.NAME=EXPR",
	"max":        "it is --top now",
	"merge":      "a setting now: --set merge.NAME=PATTERN,PATTERN",
	"min-cost":   "it is --min now",
	"min-cum":    "it is --min now",
	"min-hits":   "it is --min now",
	"no-inlines": "a setting now: --set inlines=false",
	"of-parent":  "--zoom PATH makes the entries below it shares of it",
	"own":        "it is --sort own now",
	"push":       "a command now: cpprof export push RECORDING URL",
	"runs":       "it is --with for recordings, --count for turns",
	"session":    "a command now: cpprof report session RECORDING",
	"spans":      "it is --over now",
	"to":         "one flag now: --span FROM,TO",
	"window":     "it is --keep now",
}

// respellings are former flags that work as ever, and what they
// stand for. The value of the flag follows "=".
var respellings = map[string]string{
	"class-by":  "--set=classes=",
	"config":    "--set=config=",
	"for":       "--duration=",
	"matrix":    "--scatter",
	"no-heap":   "--max-halt=0",
	"threshold": "--set=slow=",
	"times":     "--count=",
}

// respelled returns the arguments of a command with the flags
// that it has in place of former ones.
func respelled(root *cobra.Command, args []string) []string {
	c, _, err := root.Find(args)
	if err != nil {
		return args
	}
	var now []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(now, args[i:]...)
		}
		name, value, given := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		flag := respellings[name]
		own, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		apart := strings.HasSuffix(flag, "=") && !given // the value is the next argument
		if flag == "" || !strings.HasPrefix(args[i], "--") || c.Flag(name) != nil || c.Flag(own) == nil ||
			apart && i+1 == len(args) {
			now = append(now, args[i])
			continue
		}
		if apart {
			i++
			value = args[i]
		}
		now = append(now, flag+value)
	}
	return now
}

// former returns an error that names the new command line if the
// command has another name now.
func former(args []string) error {
	if len(args) == 0 || formerCommands[args[0]] == nil {
		return nil
	}
	line := lists.Each(slices.Concat(formerCommands[args[0]], args[1:]), words.Shell)
	return usagef("'cpprof %s' has a new name: cpprof %s", args[0], strings.Join(line, " "))
}

// opened returns the arguments that open a file if the first
// argument is one, and no command: in the Analyzer at a
// terminal, elsewhere as a report.
func opened(root *cobra.Command, args []string, t terminal) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || isCommand(root, args[0]) {
		return args
	}
	if _, err := os.Stat(args[0]); err != nil {
		return args
	}
	if t.isScreen() {
		return append([]string{"view"}, args...)
	}
	return append([]string{"report"}, args...)
}

func isCommand(root *cobra.Command, name string) bool {
	c, _, err := root.Find([]string{name})
	return err == nil && c != root
}
