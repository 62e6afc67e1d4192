package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Places in the archives and in the folder of the parts.
const (
	pages       = "man"
	completions = "completions"
)

// shells lists the shells that get a completion, with the name
// of its file.
var shells = map[string]string{"bash": "cpprof", "zsh": "_cpprof", "fish": "cpprof.fish"}

// writeManual writes a manual page for each command, and the
// completions. A built program says what is in them.
func (r *release) writeManual(program, to string) error {
	for _, folder := range []string{pages, completions} {
		if err := os.MkdirAll(filepath.Join(to, folder), 0o777); err != nil {
			return err
		}
	}
	for shell, name := range shells {
		text, err := exec.Command(program, "completion", shell).Output()
		if err == nil {
			err = os.WriteFile(filepath.Join(to, completions, name), text, 0o666)
		}
		if err != nil {
			return fmt.Errorf("completion for %s: %w", shell, err)
		}
	}
	// What the shells complete is the list of the commands.
	list, err := exec.Command(program, "__complete", "").Output()
	if err != nil {
		return fmt.Errorf("list of commands: %w", err)
	}
	for line := range strings.Lines("\tA call-path profiler for running Go programs\n" + string(list)) {
		command, title, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue // not a command
		}
		help, err := exec.Command(program, append(strings.Fields(command), "--help")...).Output()
		if err != nil {
			return fmt.Errorf("help of %q: %w", command, err)
		}
		name := strings.Join(append([]string{"cpprof"}, strings.Fields(command)...), "-")
		page := r.page(name, title, help)
		if err := os.WriteFile(filepath.Join(to, pages, name+".1"), page, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// page returns a manual page that shows the help of a command as it is.
func (r *release) page(name, title string, help []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %q 1 %q %q\n", strings.ToUpper(name), r.date.Format("2006-01-02"),
		"cpprof "+r.version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(title))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n")
	for line := range strings.Lines(string(help)) {
		fmt.Fprintf(&b, "\\&%s\n", roff(strings.TrimSuffix(line, "\n")))
	}
	b.WriteString(".fi\n")
	return b.Bytes()
}

// roff returns a text as roff shows it: a backslash and a hyphen
// are commands there.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`").Replace(text)
}
