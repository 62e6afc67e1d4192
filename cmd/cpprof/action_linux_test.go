package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"go.yaml.in/yaml/v3"
)

// An action is what action.yml says to GitHub's runner.
type action struct {
	Inputs map[string]struct {
		Required bool
		Default  string
	}
	Runs struct {
		Steps []struct {
			Name, Run string
			Env       map[string]string
		}
	}
}

// runAction runs the steps of the action as a runner does, up to
// the first one that fails, and returns the name of that step
// with its status, and the folder of what was written.
func runAction(t *testing.T, inputs map[string]string) (failed, folder string) {
	t.Helper()
	text := fixture.Must(os.ReadFile(filepath.Join(fixture.Root(), "action.yml")))(t)
	var a action
	fixture.Check(t, yaml.Unmarshal(text, &a))
	exe := fixture.Must(os.Executable())(t)
	folder = t.TempDir()
	fixture.Check(t, os.Symlink(exe, filepath.Join(folder, "cpprof")))
	values := []string{"${{ steps.record.outputs.folder }}", "FOLDER"}
	for name, input := range a.Inputs {
		value, given := inputs[name]
		if !given {
			value = input.Default
		}
		values = append(values, "${{ inputs."+name+" }}", value)
	}
	for _, step := range a.Runs.Steps {
		if step.Run == "" {
			continue
		}
		if output, err := os.ReadFile(filepath.Join(folder, "output")); err == nil {
			values[1] = strings.TrimPrefix(strings.TrimSpace(string(output)), "folder=")
		}
		c := exec.Command("bash", "-e", "-o", "pipefail", "-c", step.Run)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // orphans of other tests are in their group
		c.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "RUNNER_TEMP="+folder,
			"GITHUB_OUTPUT="+filepath.Join(folder, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(folder, "summary"))
		for name, value := range step.Env {
			c.Env = append(c.Env, name+"="+strings.NewReplacer(values...).Replace(value))
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Logf("%s: %v: %s", step.Name, err, out)
			return fmt.Sprintf("%s %d", step.Name, c.ProcessState.ExitCode()), folder
		}
	}
	return "", folder
}

// The action keeps a recording, a page and a summary of what a
// command starts, and fails if the command does, or if something
// is stuck.
func TestActionLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	needsTracing(t, fixture.Start(t, fixture.Build(t, "waiter"), "/nonexistent").Pid())
	for command, want := range map[string]string{
		"timeout 20 " + fixture.Build(t, "stuck") + " || true":              "judge 1",
		"timeout 8 " + fixture.Build(t, "waiter") + " /nonexistent; exit 7": "record 7",
		"timeout 8 " + fixture.Build(t, "waiter") + " /nonexistent || true": "",
	} {
		failed, folder := runAction(t, map[string]string{"command": command})
		if failed != want {
			t.Errorf("%s: step %q failed, want %q", command, failed, want)
		}
		summary, err := os.ReadFile(filepath.Join(folder, "summary"))
		if err != nil || !strings.Contains(string(summary), "### cpprof: run.cpprof\n\n```\n") ||
			!regexp.MustCompile("(?s)\n```mermaid\n%% .*\nflowchart LR\nn0\\[.*\n```\n\nShares ").Match(summary) {
			t.Errorf("%s: %v: the summary is %q", command, err, summary)
		}
		if pages, _ := filepath.Glob(filepath.Join(folder, "cpprof-*", "run.cpprof.html")); len(pages) != 1 {
			t.Errorf("%s: no page", command)
		}
	}
}

// A command in which there is nothing to record fails only by its own status. The summary says that nothing was recorded.
func TestActionWithoutRecording(t *testing.T) {
	t.Parallel()
	const nothing = "nothing was recorded\n\nThe command ended with status "
	for _, c := range []struct{ command, failed, says string }{
		{"true", "", nothing + "0."},
		{"exit 7", "record 7", nothing + "7."},
		{"kill -TERM $$", "record 143", nothing + "143."},
		{`if true; then echo "$HOME"; fi`, "", nothing + "0."},
		{fixture.Build(t, "lifecycle") + " exit 0 && true", "", ""}, // cpprof may just see it
		{fixture.Build(t, "lifecycle") + " exit 3", "record 3", ""},
	} {
		failed, folder := runAction(t, map[string]string{"command": c.command, "against": "an-earlier.cpprof"})
		if failed != c.failed && c.says != "" || strings.HasPrefix(failed, "record") != (c.failed != "") {
			t.Errorf("%s: step %q failed, want %q", c.command, failed, c.failed)
		}
		summary, err := os.ReadFile(filepath.Join(folder, "summary"))
		if err != nil || !strings.HasPrefix(string(summary), "### cpprof: "+c.says) {
			t.Errorf("%s: %v: the summary is %q", c.command, err, summary)
		}
	}
}
