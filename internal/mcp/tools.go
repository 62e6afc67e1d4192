package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `cpprof samples all goroutines of a running Go program: what they do (RUN, LOAD: ready but no processor, PRIO, MONITOR: waits for a lock, WAIT), in which call path, and who holds the locks. Begin with list_processes and record, or with list_recordings; then why, which says what is slow. stuck, locks, classes and report show more; compare shows what changed.`

// Durations of recordings, in seconds.
const (
	usualSeconds = 10
	maxSeconds   = 600
)

// maxListed limits the recordings in a list.
const maxListed = 200

type (
	nothing struct{}

	recordArgs struct {
		Process string  `json:"process" jsonschema:"the process to record: its pid, or the name of its program if only one process runs it"`
		Seconds float64 `json:"seconds,omitempty" jsonschema:"how long to record, in seconds; 10 if it is left out, at most 600"`
		Name    string  `json:"name,omitempty" jsonschema:"the name of the new recording, such as before.cpprof; a name with the date if it is left out"`
	}
	readArgs struct {
		Recording string `json:"recording" jsonschema:"the name of a recording, as list_recordings shows it"`
	}
	whyArgs struct {
		Recording string `json:"recording" jsonschema:"the name of a recording, as list_recordings shows it"`
		Against   string `json:"against,omitempty" jsonschema:"the name of an earlier recording: say what is slower now"`
		Without   string `json:"without,omitempty" jsonschema:"a function, call paths as in report, or a lock: only say how much more gets done, or how much faster requests are, if it cost nothing"`
		Half      bool   `json:"half,omitempty" jsonschema:"with without: if it cost half"`
	}
	reportArgs struct {
		Recording string `json:"recording" jsonschema:"the name of a recording, as list_recordings shows it"`
		Class     string `json:"class,omitempty" jsonschema:"a thread class, such as go:main.worker: its Thread View, all time of its goroutines. Without it, the Server View: the processors' time"`
		Steps     []step `json:"steps,omitempty" jsonschema:"how to refine the view, one after the other; if none is down, extended or up, cpprof refines"`
	}
	step struct {
		How  string `json:"how" jsonschema:"down: what the path calls; extended: what it leads to; up: who calls it; prune: keep only its stacks; zoom: make it the whole"`
		Path string `json:"path" jsonschema:"a call path: 'A B' is an immediate call, 'A ..B' a call at any depth, * the root; such as '* main.worker' or '* ..:MONITOR'. For prune also an expression: '* ..A and not * ..B'; for up, 'P | Q': who calls Q within P, such as '* | main.encode'"`
	}
	compareArgs struct {
		Recording string `json:"recording" jsonschema:"the name of the newer recording"`
		Against   string `json:"against" jsonschema:"the name of the older recording"`
		Class     string `json:"class,omitempty" jsonschema:"a thread class, such as go:main.worker: compare its Thread View. Without it, all classes are compared"`
	}
)

func (s *server) addTools(server *sdk.Server) {
	no := false
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	addTool(server, &sdk.Tool{Name: "list_processes", Annotations: reads,
		Description: "List the running Go programs that may be recorded. No program is touched."},
		s.listProcesses)
	addTool(server, &sdk.Tool{Name: "list_recordings", Annotations: reads,
		Description: "List the recordings that there are, the newest first."}, s.listRecordings)
	addTool(server, &sdk.Tool{Name: "record",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
		Description: "Record a running Go program, which goes on meanwhile: it is halted for less than 1 % of the time. Returns what was recorded."}, s.record)
	addTool(server, &sdk.Tool{Name: "why", Annotations: reads,
		Description: "Say why a recorded program is slow: findings (what, where, because of whom, when), the worst first, and the hypotheses behind them."},
		func(ctx context.Context, _ *sdk.CallToolRequest, in whyArgs) (*sdk.CallToolResult, any,
			error) {
			args := []string{"why"}
			switch {
			case in.Half && in.Without == "":
				return nil, nil, errors.New("half: want without, too")
			case in.Half:
				args = append(args, "--without=half of "+in.Without)
			case in.Without != "":
				args = append(args, "--without="+in.Without)
			}
			return s.readRecordings(ctx, in.Recording, in.Against, args...)
		})
	addTool(server, &sdk.Tool{Name: "stuck", Annotations: reads,
		Description: "Name the goroutines of a recorded program that can never run again, and whose fault that is."}, s.reads("stuck"))
	addTool(server, &sdk.Tool{Name: "locks", Annotations: reads,
		Description: "Show the locks that goroutines waited for, who waited, who held them meanwhile, and deadlocks."}, s.reads("locks"))
	addTool(server, &sdk.Tool{Name: "classes", Annotations: reads,
		Description: "List the thread classes (goroutines by the function that they began with), with the share of each typed time."}, s.reads("classes"))
	addTool(server, &sdk.Tool{Name: "report", Annotations: reads,
		Description: "Show a view of a recording as a tree of call paths with their costs."},
		s.report)
	addTool(server, &sdk.Tool{Name: "compare", Annotations: reads,
		Description: "Compare two recordings of the same program: of each thread class, or of the call paths of one, what it costs in both."}, s.compare)
}

// addTool adds a tool whose errors are safe to print: they can
// name a program or a file.
func addTool[In any](server *sdk.Server, tool *sdk.Tool, do sdk.ToolHandlerFor[In, any]) {
	sdk.AddTool(server, tool, func(ctx context.Context, request *sdk.CallToolRequest,
		in In) (*sdk.CallToolResult, any, error) {
		result, out, err := do(ctx, request, in)
		if err != nil {
			err = errors.New(termtext.Error(err))
		}
		return result, out, err
	})
}

// reads returns a tool that runs a command on a recording.
func (s *server) reads(command string) sdk.ToolHandlerFor[readArgs, any] {
	return func(ctx context.Context, _ *sdk.CallToolRequest,
		in readArgs) (*sdk.CallToolResult, any, error) {
		return s.readRecordings(ctx, in.Recording, "", command)
	}
}

func (s *server) listProcesses(context.Context, *sdk.CallToolRequest, nothing) (*sdk.CallToolResult,
	any, error) {
	type process struct {
		PID     int    `json:"pid"`
		Program string `json:"program"`
		Command string `json:"command"`
	}
	list := lists.Each(sampler.Running(), func(p *sampler.Process) process {
		return process{p.PID, p.Name, s.o.Describe(p)}
	})
	return listAnswer("processes", list, true)
}

func (s *server) listRecordings(context.Context, *sdk.CallToolRequest,
	nothing) (*sdk.CallToolResult, any, error) {
	type recording struct {
		Name    string    `json:"name"`
		Written time.Time `json:"written"`
	}
	dir, err := s.folder.Open(".")
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, nil, err
	}
	list := []recording{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && (e.Type().IsRegular() || s.isRecording(e.Name())) {
			list = append(list, recording{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b recording) int {
		return cmp.Or(b.Written.Compare(a.Written), cmp.Compare(a.Name, b.Name))
	})
	return listAnswer("recordings", list[:min(len(list), maxListed)], len(list) <= maxListed)
}

func (s *server) isRecording(name string) bool {
	_, err := s.folder.Stat(filepath.Join(name, "SampleData"))
	return err == nil
}

// listAnswer returns a list in the form of all JSON of cpprof.
func listAnswer(name string, list any, complete bool) (*sdk.CallToolResult, any, error) {
	basis := report.BasisOf()
	text, err := json.Marshal(map[string]any{name: list, "schema": basis.Schema,
		"warnings": basis.Warnings, "complete": complete})
	if err != nil {
		return nil, nil, err
	}
	return answer(text)
}

var newName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// record records a process into the folder, and returns what
// 'cpprof info' prints about the recording.
func (s *server) record(ctx context.Context, _ *sdk.CallToolRequest,
	in recordArgs) (*sdk.CallToolResult, any, error) {
	seconds := cmp.Or(in.Seconds, usualSeconds)
	if !(seconds >= 0.1 && seconds <= maxSeconds) {
		return nil, nil, fmt.Errorf("seconds %v: want 0.1 to %d", in.Seconds, maxSeconds)
	}
	if in.Process == "" {
		return nil, nil, errors.New("process: want a pid or the name of a program, as list_processes shows them")
	}
	name := cmp.Or(in.Name, time.Now().Format("run-20060102-150405.000"))
	if !newName.MatchString(name) {
		return nil, nil, fmt.Errorf("name %q: want letters, digits, '.', '_' and '-', and a letter or digit first", in.Name)
	}
	name = strings.TrimSuffix(name, ".cpprof") + ".cpprof"
	lasts := time.Duration(seconds * float64(time.Second))
	file := filepath.Join(s.o.Folder, name)
	_, said, err := s.run(ctx, s.recording, lasts+time.Minute, "record", "--pid="+in.Process,
		"--duration="+lasts.String(), "--output="+file)
	if err != nil {
		return nil, nil, err
	}
	out, _, err := s.run(ctx, s.reading, readingTime, "info", "--json", file)
	if err != nil {
		return nil, nil, err
	}
	return answer(out, "The recording is "+name+".", said)
}

func (s *server) report(ctx context.Context, _ *sdk.CallToolRequest,
	in reportArgs) (*sdk.CallToolResult, any, error) {
	args := []string{"report", viewFlag(in.Class)}
	refines := false
	for _, step := range in.Steps {
		if !slices.Contains([]string{"down", "extended", "up", "prune", "zoom"}, step.How) {
			return nil, nil, fmt.Errorf("step %q: want down, extended, up, prune or zoom", step.How)
		}
		args = append(args, "--"+step.How+"="+step.Path)
		refines = refines || step.How != "prune" && step.How != "zoom"
	}
	if !refines {
		args = append(args, "--auto")
	}
	return s.readRecordings(ctx, in.Recording, "", args...)
}

func (s *server) compare(ctx context.Context, _ *sdk.CallToolRequest,
	in compareArgs) (*sdk.CallToolResult, any, error) {
	if in.Against == "" {
		return nil, nil, errors.New("against: want the name of the older recording")
	}
	if in.Class == "" {
		return s.readRecordings(ctx, in.Recording, in.Against, "classes")
	}
	return s.readRecordings(ctx, in.Recording, in.Against, "report", viewFlag(in.Class), "--auto")
}

// viewFlag returns the flag that chooses a view.
func viewFlag(class string) string {
	if class == "" {
		return "--server"
	}
	return "--thread=" + class
}

// readRecordings returns the output of a command for a
// recording. The command may compare it with another recording.
func (s *server) readRecordings(ctx context.Context, recording, against string,
	args ...string) (*sdk.CallToolResult, any, error) {
	file, err := s.file(recording)
	if err != nil {
		return nil, nil, err
	}
	names := []string{recording}
	if against != "" {
		names = append(names, against)
		other, err := s.file(against)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, "--against="+other)
	}
	out, said, err := s.run(ctx, s.reading, readingTime, append(args, file, "--json")...)
	if err == nil && args[0] == "why" {
		out, err = seeInTools(out, recording)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		out = bytes.ReplaceAll(out, quoted(filepath.Join(s.o.Folder, name)), quoted(name))
	}
	return answer(out, said)
}

// quoted returns a string of JSON.
func quoted(text string) []byte {
	made, _ := json.Marshal(text) // a string has no error
	return made
}

// file returns the path of a file or folder by its name. It
// fails if that, or a part of it, is not within the folder.
func (s *server) file(name string) (string, error) {
	if name == "" || !filepath.IsLocal(name) {
		return "", fmt.Errorf("recording %q: want the name of one in the folder of the recordings, as list_recordings shows it", name)
	}
	info, err := s.folder.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("recording %q: there is none of this name; list_recordings shows what there is", name)
	}
	if err != nil {
		return "", fmt.Errorf("recording %q: %w", name, err)
	}
	if info.IsDir() {
		dir, err := s.folder.Open(name)
		if err != nil {
			return "", err
		}
		defer dir.Close()
		parts, err := dir.Readdirnames(-1)
		if err != nil {
			return "", err
		}
		for _, part := range parts {
			if _, err := s.folder.Stat(filepath.Join(name, part)); err != nil {
				return "", fmt.Errorf("recording %q: %w", name, err)
			}
		}
	}
	return filepath.Join(s.o.Folder, name), nil
}
