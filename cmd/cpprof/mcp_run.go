package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a call.
const (
	mcpReadingTime = 2 * time.Minute  // of a command that reads
	mcpPatience    = 10 * time.Second // until a command that was interrupted is killed
	mcpMostOutput  = 256 << 20        // bytes that a command may write
	mcpMostSaid    = 4 << 10          // bytes of its messages that are kept
	mcpMostAnswer  = 48 << 10         // bytes of an answer
	mcpMostString  = 1000             // bytes of a string in an answer that has to be cut
)

// A boundedBuffer keeps the beginning of what is written to it.
type boundedBuffer struct {
	bytes.Buffer
	most int
	cut  bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.most-b.Len())]
	b.cut = b.cut || len(kept) < len(p)
	b.Buffer.Write(kept)
	return len(p), nil
}

// said returns the messages of a command, without the program's name before each line.
func (b *boundedBuffer) said() string {
	text := strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(b.String(), "\ncpprof: ", "\n"), "cpprof: "))
	if b.cut {
		text += " ..."
	}
	return text
}

// mcpSaid is an error with the messages of a command, which has made them safe to print.
type mcpSaid string

func (e mcpSaid) Error() string        { return string(e) }
func (e mcpSaid) TerminalText() string { return string(e) }

// run runs a command of cpprof as one of those that fill a channel. It interrupts the command when the time is over, the call is
// cancelled or the session ends.
func (s *mcpServer) run(ctx context.Context, room chan struct{}, limit time.Duration, args ...string) (out []byte, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(s.session, cancel)()
	select {
	case room <- struct{}{}:
		defer func() { <-room }()
	case <-ctx.Done():
		return nil, "", errors.New("other calls have taken all the time: try again")
	}
	s.commands.Add(1)
	defer s.commands.Done()
	c := exec.CommandContext(ctx, s.program, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = mcpPatience
	written, messages := &boundedBuffer{most: mcpMostOutput}, &boundedBuffer{most: mcpMostSaid}
	c.Stdout, c.Stderr = written, messages
	err = c.Run()
	said = messages.said()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, said, fmt.Errorf("cpprof %s has not ended after %v", args[0], limit)
	case ctx.Err() != nil:
		return nil, said, errors.New("the call was cancelled")
	case err != nil && said != "":
		return nil, said, mcpSaid(said)
	case err != nil:
		return nil, said, fmt.Errorf("cpprof %s: %w", args[0], err)
	case written.cut:
		return nil, said, fmt.Errorf("the answer has more than %d MB: ask for less, such as one class", mcpMostOutput>>20)
	}
	return written.Bytes(), said, nil
}

// read returns the answer of a command that writes JSON, and what the command has said beside it.
func (s *mcpServer) read(ctx context.Context, args ...string) (*mcp.CallToolResult, any, error) {
	out, said, err := s.run(ctx, s.reading, mcpReadingTime, append(args, "--json")...)
	if err != nil {
		return nil, nil, err
	}
	return mcpAnswer(out, said)
}

// mcpAnswer returns a JSON document as an answer, cut if it is long, and notes: what was cut, and what else there is to say.
func mcpAnswer(document []byte, notes ...string) (*mcp.CallToolResult, any, error) {
	text, cuts, err := shortenJSON(document, mcpMostAnswer)
	if err != nil {
		return nil, nil, err
	}
	answer := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	if len(cuts) > 0 {
		notes = append([]string{"This answer was cut: " + strings.Join(cuts, "; ")}, notes...)
	}
	for _, note := range notes {
		if note != "" {
			answer.Content = append(answer.Content, &mcp.TextContent{Text: note})
		}
	}
	return answer, nil, nil
}

// shortenJSON shortens a JSON document to a number of bytes: it cuts long lists and strings, ever shorter until the document fits.
// Each cut is a line that says what was cut.
func shortenJSON(document []byte, most int) (text string, cuts []string, err error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		return "", nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if compact.Len() <= most {
		return string(termtext.JSON(compact.Bytes())), nil, nil
	}
	var value any
	d := json.NewDecoder(&compact)
	d.UseNumber() // so that numbers stay as they are
	if err := d.Decode(&value); err != nil {
		return "", nil, err
	}
	for longest := 512; longest > 0; longest /= 2 {
		s := jsonShortener{longest: longest, lengths: map[string]int{}}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s.shorten(value, "")); err != nil {
			return "", nil, err
		}
		if b.Len() <= most {
			return strings.TrimSpace(string(termtext.JSON(b.Bytes()))), s.cuts(), nil
		}
	}
	return "", nil, fmt.Errorf("the answer has %d bytes, and can't be cut to %d: ask for less, such as one class", len(document), most)
}

// A jsonShortener cuts lists.
type jsonShortener struct {
	longest int            // entries of a list or object
	lengths map[string]int // by path of what was cut: how long the longest was
}

func (s *jsonShortener) shorten(value any, path string) any {
	switch v := value.(type) {
	case []any:
		s.note(path, len(v), s.longest)
		short := make([]any, min(len(v), s.longest))
		for i := range short {
			short[i] = s.shorten(v[i], path+"[]")
		}
		return short
	case map[string]any:
		// The fields of a report are few; an object with many keys is a table.
		most := max(s.longest, 32)
		s.note(path, len(v), most)
		short := make(map[string]any, min(len(v), most))
		for _, key := range slices.Sorted(maps.Keys(v))[:min(len(v), most)] {
			short[key] = s.shorten(v[key], path+"."+key)
		}
		return short
	case string:
		if len(v) > mcpMostString {
			s.note(path, len(v), mcpMostString)
			return strings.ToValidUTF8(v[:mcpMostString], "") + "…"
		}
	}
	return value
}

func (s *jsonShortener) note(path string, length, most int) {
	if length > most {
		s.lengths[path] = max(s.lengths[path], length)
	}
}

// cuts returns a line for each path at which something was cut.
func (s *jsonShortener) cuts() []string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(s.lengths)) {
		lines = append(lines, termtext.Sprintf("%s has its beginning only, of a length of up to %d", strings.TrimPrefix(path, "."), s.lengths[path]))
	}
	return lines
}
