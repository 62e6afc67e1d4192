package mcp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/why"
)

// parameters are the parameters of tools by the flags of the
// commands that the tools run.
var parameters = map[string]string{
	"-p": "process", "--pid": "process", "-d": "seconds", "--duration": "seconds", "-o": "name",
	"--output":  "name",
	"--without": "without",
	"--thread":  "class", "--server": "no class", "--against": "against",
	"--down": "the step down", "--extended": "the step extended", "--up": "the step up",
	"--prune": "the step prune", "--zoom": "the step zoom",
}

// foreignFlags are flags of other programs, which errors advise, too.
var foreignFlags = map[string]bool{"--cap-add": true, "-ldflags": true, "-s": true, "-w": true,
	"-n": true}

// commandTools are the tools with the names of commands.
var commandTools = []string{"record", "why", "stuck", "locks", "classes", "report"}

var (
	flagName    = regexp.MustCompile(`(^|[\s('])(--?[a-z][a-z-]*)`)
	quotedLine  = regexp.MustCompile("[`']cpprof ([a-z-]+)[^`']*[`']")
	commandLine = regexp.MustCompile("\\bcpprof (" + strings.Join(commandTools, "|") +
		")\\b[^:;,)]*")
	clause = regexp.MustCompile(`, or |; |: |, `)
)

// inTools returns a message of a command in terms of the tools. A tool stands
// for its command, a parameter for its flag, a name for a path in the folder.
// Advice that names another command or flag is left out: no tool has it.
func inTools(message, folder string) string {
	message = strings.NewReplacer(folder+"/", "", "look for the pid with ps or pgrep",
		"list_processes shows those that there are").Replace(message)
	var kept []string
	for line := range strings.SplitSeq(message, "\n") {
		switch offered, ok := strings.CutPrefix(line, "  -p "); {
		case ok: // the rest is a process, with its own flags
			kept = append(kept, "  "+parameters["-p"]+" "+offered)
		case !strings.HasPrefix(line, "See 'cpprof "):
			kept = append(kept, lineInTools(line))
		}
	}
	return strings.Join(kept, "\n")
}

// lineInTools does so for a line. It keeps the beginning in any case.
func lineInTools(line string) string {
	changed, from, between := "", 0, ""
	for i, end := range append(clause.FindAllStringIndex(line, -1), []int{len(line), len(line)}) {
		if text, ok := clauseInTools(line[from:end[0]]); ok || i == 0 {
			changed += between + text
		}
		from, between = end[1], line[end[0]:end[1]]
	}
	return changed
}

// clauseInTools does so for a part of a sentence; ok is false if it names
// what no tool has.
func clauseInTools(text string) (changed string, ok bool) {
	ok = true
	changed = text
	for _, line := range []*regexp.Regexp{quotedLine, commandLine} {
		changed = line.ReplaceAllStringFunc(changed, func(found string) string {
			command := line.FindStringSubmatch(found)[1]
			takes := command == "record" || !strings.Contains(found, " -p ")
			if slices.Contains(commandTools, command) && takes && !strings.Contains(found, " -- ") {
				return "the tool " + command
			}
			ok = false
			return found
		})
	}
	changed = flagName.ReplaceAllStringFunc(changed, func(found string) string {
		parts := flagName.FindStringSubmatch(found)
		if parameter, known := parameters[parts[2]]; known {
			return parts[1] + parameter
		}
		ok = ok && foreignFlags[parts[2]]
		return found
	})
	return changed, ok
}

// seeField matches the field of a finding with the command that shows it. No
// text has this in it: its quotes are escaped.
var seeField = regexp.MustCompile(`,\s*"see":\s*"(?:[^"\\]|\\.)*"`)

// seeInTools replaces in the document of 'cpprof why' each command by the
// call of a tool, such as report {"recording":"run.cpprof"}. It leaves out
// what no tool shows.
func seeInTools(document []byte, recording string) ([]byte, error) {
	var of struct{ Findings []shown }
	if err := json.Unmarshal(document, &of); err != nil {
		return nil, err
	}
	return seeField.ReplaceAllFunc(document, func([]byte) []byte {
		if len(of.Findings) == 0 {
			return nil
		}
		tool, args := of.Findings[0].call(recording)
		of.Findings = of.Findings[1:]
		text, err := json.Marshal(args)
		if tool == "" || err != nil {
			return nil
		}
		return append([]byte(`,"see":`), quoted(tool+" "+string(text))...)
	}), nil
}

// A shown is what shows a finding.
type shown struct {
	Kind    why.Kind
	Measure *why.Measure
	Within  *struct{}
}

// call returns the tool that shows a finding, and its arguments; "" if none
// does.
func (s *shown) call(recording string) (tool string, args any) {
	m, see := s.Measure, (&why.Finding{Kind: s.Kind}).Words().See
	switch {
	case s.Within != nil: // no tool takes a span
		return "", nil
	case m == nil && (see == "locks" || see == "stuck"):
		return see, readArgs{Recording: recording}
	case m == nil:
		return "", nil
	case m.Path != "":
		return "report", reportArgs{Recording: recording, Class: m.Thread,
			Steps: []step{{"extended", m.Path}}}
	}
	return "report", reportArgs{Recording: recording, Class: m.Thread,
		Steps: []step{{"prune", m.Keep}}}
}
