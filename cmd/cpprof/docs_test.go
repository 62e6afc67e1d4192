package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pages returns the documentation for users of cpprof, by file.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files := fixture.Must(filepath.Glob("../../docs/*.md"))(t)
	pages := map[string]string{}
	for _, file := range append(files, "../../README.md") {
		text := fixture.Must(os.ReadFile(file))(t)
		pages[filepath.Base(file)] = string(text)
	}
	return pages
}

// TestDocsLong runs every command line of the documentation, on a
// fresh recording of the demo and on the recordings of the other
// tests. That the commands and flags exist is tested always.
func TestDocsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	numbers := fixture.Start(t, fixture.Build(t, "variables"))
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "requests_total 42") }))
	t.Cleanup(endpoint.Close)
	scripts := docScripts(t)
	server := fixture.Build(t, "brief")
	program := fixture.Cpprof(t) // the demo records this, and its functions have other names in a test
	demo := exec.Command(program, "demo", "-d", "3s")
	demo.Dir = t.TempDir()
	if out, err := demo.CombinedOutput(); err != nil || !strings.Contains(string(out), "four problems on purpose") {
		t.Fatalf("%v: %s", err, out)
	}
	writeOtherTools(t, demo.Dir)
	twins := map[string]string{"bob": "bob", "run": "bob", "old": "before", "new": "after"}
	folder := fixture.Must(filepath.Abs("testdata"))(t)
	testscript.Run(t, testscript.Params{
		Files: scripts,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TARGET", fmt.Sprint(target.Pid()))
			e.Setenv("VARIABLES", fmt.Sprint(numbers.Pid()))
			e.Setenv("METRICS", endpoint.URL)
			e.Setenv("CPPROF", program)
			for name, twin := range twins {
				if err := undumpFile(filepath.Join(folder, twin+".txt"), filepath.Join(e.WorkDir, name+".cpprof")); err != nil {
					return err
				}
			}
			if err := os.CopyFS(e.WorkDir, os.DirFS(demo.Dir)); err != nil {
				return err
			}
			return os.Symlink(server, filepath.Join(e.WorkDir, "server"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"stdouterr": saidSomething},
	})
}

// docScripts writes a script with the command lines of each page.
func docScripts(t *testing.T) (files []string) {
	t.Helper()
	folder, count := t.TempDir(), 0
	for page, text := range pages(t) {
		script := ""
		for _, c := range commandLines(text) {
			script += "exec $CPPROF " + strings.TrimPrefix(c, "cpprof ") + "\nstdouterr\n"
			count++
		}
		files = append(files, filepath.Join(folder, strings.TrimSuffix(page, ".md")+".txtar"))
		fixture.Check(t, os.WriteFile(files[len(files)-1], []byte(script), 0o666))
	}
	if count < 20 {
		t.Fatalf("the documentation has only %d command lines", count)
	}
	return files
}

// saidSomething checks that the command before it has printed something.
func saidSomething(ts *testscript.TestScript, _ bool, _ []string) {
	if ts.ReadFile("stdout")+ts.ReadFile("stderr") == "" {
		ts.Fatalf("the command prints nothing")
	}
}

var commandLine = regexp.MustCompile(`(?m)^    (?:\$ )?(cpprof .*)$`)

// commandLines returns the command lines of a page, changed so
// that they end soon and use the test's own targets.
func commandLines(text string) []string {
	var commands []string
	for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
		c, _, _ := strings.Cut(m[1], "  #")
		c = strings.TrimSpace(c)
		if strings.Contains(c, "-m main.") {
			c = strings.ReplaceAll(c, "-p 4711", "-d 1s -p $VARIABLES")
		}
		c = strings.ReplaceAll(c, "http://127.0.0.1:2112", "$METRICS")
		if strings.Contains(c, "--keep 60s") {
			c = strings.NewReplacer("--keep 60s", "--keep 1s -d 2s", "main.handle", "main.main", "-p 4711", "-p $TARGET").Replace(c)
		}
		c = strings.ReplaceAll(c, "-p 4711", "-d 1s -p $TARGET")
		c = strings.ReplaceAll(c, "-d 10s", "-d 1s")
		c = strings.ReplaceAll(c, "-o run.cpprof", "-f -o run.cpprof")
		switch {
		case strings.HasPrefix(c, "cpprof demo"): // run first, and shorter
		case strings.HasPrefix(c, "cpprof view"): // TestView... run it, at a terminal
		case strings.Contains(c, "--web"): // TestRecordWeb runs it: it ends at Ctrl-C
		case strings.HasPrefix(c, "cpprof agent"):
			commands = append(commands, c+" --listen 127.0.0.1:0 --duration 1ms")
		case strings.HasPrefix(c, "cpprof web"):
			commands = append(commands, c+" --no-browser --duration 1ms")
		case strings.HasPrefix(c, "cpprof report session"): // the Analyzer saves one
		default:
			commands = append(commands, c)
		}
	}
	return commands
}

var (
	flagWord = regexp.MustCompile("[\\s('`]--([a-z][a-z-]+)")
	command  = regexp.MustCompile("`cpprof ([a-z][a-z-]*( x[a-z]+| aspects)?)[` ]")
)

// foreignFlags are flags of other programs.
var foreignFlags = []string{"cap-add", "password", "token", "headless", "accept-multiclient", "continue", "all", "from-literal"}

// The documentation names only flags and commands that exist, and docs/commands.md names every command.
func TestDocsNameWhatExists(t *testing.T) {
	flags, commands := map[string]bool{}, map[string]bool{}
	everyCommand(func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		commands[strings.TrimPrefix(c.CommandPath(), "cpprof ")] = true
	})
	for page, text := range pages(t) {
		for _, m := range flagWord.FindAllStringSubmatch(text, -1) {
			if !flags[m[1]] && !slices.Contains(foreignFlags, m[1]) {
				t.Errorf("%s: no command has a flag --%s", page, m[1])
			}
		}
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if !commands[m[1]] {
				t.Errorf("%s: there is no command cpprof %s", page, m[1])
			}
		}
	}
	table := pages(t)["commands.md"]
	for name := range commands {
		first, rest, sub := strings.Cut(name, " ")
		if want := "`cpprof " + first; name != "cpprof" && first != "help" && !strings.Contains(table, want) {
			t.Errorf("commands.md does not name cpprof %s", name)
		}
		if sub && first == "report" && !strings.Contains(table, rest) {
			t.Errorf("commands.md does not name cpprof %s", name)
		}
	}
}

// needsTracing skips a test if this process may not trace
// another, such as the given one.
func needsTracing(t testing.TB, pid int) {
	t.Helper()
	var said strings.Builder
	probe := filepath.Join(t.TempDir(), "probe.cpprof")
	status := run(t.Context(), []string{"record", "-d", "100ms", "-o", probe, "-p", fmt.Sprint(pid)},
		terminal{in: strings.NewReader(""), out: io.Discard, err: &said})
	if status != exitFine {
		t.Skipf("recording is not possible here: %s", said.String())
	}
}
