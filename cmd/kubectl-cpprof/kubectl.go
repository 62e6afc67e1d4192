package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
)

// A kubectl is the user's own program, with the flags that say
// which cluster.
type kubectl struct {
	path   string
	global []string
}

func findKubectl(global []string) (*kubectl, error) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return nil, errors.New("there is no kubectl in $PATH: install it, the plugin asks the cluster through it")
	}
	return &kubectl{path, global}, nil
}

// command returns a call of kubectl.
func (k *kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, k.path, append(args[:1:1], append(k.global, args[1:]...)...)...)
	// needed by kubectl 1.30; later ones ignore it
	c.Env = append(os.Environ(), "KUBECTL_DEBUG_CUSTOM_PROFILE=true")
	return c
}

// output runs kubectl, and returns its output. An error says what
// a person can do about it.
func (k *kubectl) output(ctx context.Context, args ...string) ([]byte, error) {
	c := k.command(ctx, args...)
	out, err := c.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		said := &kubectlError{args[0], withoutLog(string(failed.Stderr))}
		return nil, advise(said, remedy(said.command, said.text))
	}
	return out, err
}

// logLine matches a line of kubectl's log, which says the same
// as its error.
var logLine = regexp.MustCompile(`(?m)^[EFIW]\d{4} .*\n`)

func withoutLog(text string) string { return strings.TrimSpace(logLine.ReplaceAllString(text, "")) }

// A kubectlError has what kubectl said.
type kubectlError struct{ command, text string }

func (e *kubectlError) Error() string {
	if e.text == "" {
		return "kubectl " + e.command + " failed and said nothing"
	}
	return "kubectl " + e.command + ": " + e.text
}

// TerminalText keeps kubectl's lines.
func (e *kubectlError) TerminalText() string {
	return strings.Join(lists.Each(strings.Split(e.Error(), "\n"), termtext.Printable), "\n")
}

// An advisedError has a line of its own that says what a person can do.
type advisedError struct {
	error
	advice string
}

// advise adds advice to an error, if there is any.
func advise(err error, advice string) error {
	if advice == "" {
		return err
	}
	return &advisedError{err, advice}
}

func (e *advisedError) TerminalText() string { return termtext.Error(e.error) + "\n" + e.advice }
func (e *advisedError) Error() string        { return e.error.Error() + "\n" + e.advice }
func (e *advisedError) Unwrap() error        { return e.error }

// remedies has what helps if kubectl says all of some texts. The
// first one that fits counts.
var remedies = []struct {
	command string
	says    []string
	remedy  string
}{
	{"debug", []string{"unknown flag"},
		"This kubectl is too old: 1.31 or later adds containers with given capabilities."},
	{"debug", []string{"violates PodSecurity"},
		"The namespace's security level refuses SYS_PTRACE, without which no other program can be read. The level 'privileged' allows it (label pod-security.kubernetes.io/enforce)."},
	{"debug", []string{"ephemeral containers are disabled"},
		"The cluster is older than Kubernetes 1.25, or has them switched off."},
	{"debug", []string{"Forbidden", "cannot", "pods/ephemeralcontainers"},
		"You may not add containers to pods: ask for the verb patch of pods/ephemeralcontainers."},
	{"debug", []string{"orbidden"},
		"A rule of the cluster refuses the container. It needs user 0, SYS_PTRACE and DAC_OVERRIDE."},
	{"exec", []string{"Forbidden", "pods/exec"},
		"You may not run programs in pods: ask for the verb create of pods/exec."},
	{"get", []string{"Forbidden"}, "You may not see pods: ask for the verb get of pods."},
	{"get", []string{"NotFound"},
		"'kubectl get pods' lists the pods of a namespace (-n)."},
}

func remedy(command, text string) string {
	for _, r := range remedies {
		missing := func(part string) bool { return !strings.Contains(text, part) }
		if r.command == command && !slices.ContainsFunc(r.says, missing) {
			return r.remedy
		}
	}
	return ""
}

// A tail keeps the last lines of what a program says.
type tail struct{ text []byte }

// maxTail bounds it, in bytes.
const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(b), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.text)) }
