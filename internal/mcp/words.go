package mcp

import (
	"regexp"
	"strings"
)

// parameters are the parameters of tools by the flags of the commands that the tools run.
var parameters = map[string]string{
	"-p": "process", "--pid": "process", "-d": "seconds", "--duration": "seconds", "-o": "name", "--output": "name",
	"--thread": "class", "--server": "no class", "--against": "against",
	"--down": "the step down", "--extended": "the step extended", "--up": "the step up", "--prune": "the step prune", "--zoom": "the step zoom",
}

// foreignFlags are flags of other programs, which errors advise, too.
var foreignFlags = map[string]bool{"--cap-add": true, "-ldflags": true, "-s": true, "-w": true, "-n": true}

var (
	flagName = regexp.MustCompile(`(^|[\s('])(--?[a-z][a-z-]*)`)
	clause   = regexp.MustCompile(`, or |; |: |, `)
)

// inTools returns a message of a command in terms of the tools. A parameter stands for its flag. Advice that names
// another flag is left out: no tool has it.
func inTools(message string) string {
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

// clauseInTools does so for a part of a sentence; ok is false if it names a flag that no tool has.
func clauseInTools(text string) (changed string, ok bool) {
	ok = true
	changed = flagName.ReplaceAllStringFunc(text, func(found string) string {
		parts := flagName.FindStringSubmatch(found)
		if parameter, known := parameters[parts[2]]; known {
			return parts[1] + parameter
		}
		ok = ok && foreignFlags[parts[2]]
		return found
	})
	return changed, ok
}
