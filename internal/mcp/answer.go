package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of an answer, in bytes.
const (
	maxAnswer = 48 << 10
	maxNote   = 4 << 10 // of each text beside the document, and of an error
	maxString = 1000    // of a string in a document that has to be cut
	maxKey    = 100     // of a key in such a document
)

// shortened returns a text or its beginning, within the bound of a note.
func shortened(text string) string { return beginning(text, maxNote) }

// beginning returns a text, cut if it has too many bytes.
func beginning(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const dots = "…"
	return strings.ToValidUTF8(text[:limit-len(dots)], "") + dots
}

// bounded returns an error whose text is within the bound of a
// note. Errors repeat what a client has sent.
func bounded(err error) error {
	var coded *jsonrpc.Error
	if errors.As(err, &coded) && len(coded.Data) <= maxNote {
		return &jsonrpc.Error{Code: coded.Code, Message: shortened(err.Error()), Data: coded.Data}
	}
	if coded != nil {
		return &jsonrpc.Error{Code: coded.Code, Message: shortened(err.Error())}
	}
	return errors.New(shortened(err.Error()))
}

// boundErrors bounds the errors of all tools, those in their arguments included.
func boundErrors(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		if called, ok := result.(*sdk.CallToolResult); ok && called != nil && called.IsError {
			for _, c := range called.Content {
				if text, ok := c.(*sdk.TextContent); ok {
					text.Text = shortened(text.Text)
				}
			}
		}
		return result, err
	}
}

// answer returns a JSON document as an answer, cut if it is
// long, and notes: what was cut, and what else there is to say.
func answer(document []byte, notes ...string) (*sdk.CallToolResult, any, error) {
	rest := maxAnswer - maxNote // for what was cut
	for i, note := range notes {
		notes[i] = shortened(note)
		rest -= len(notes[i])
	}
	text, cuts, err := shortenJSON(document, rest)
	if err != nil {
		return nil, nil, err
	}
	if len(cuts) > 0 {
		notes = append([]string{shortened("This answer was cut: " + strings.Join(cuts, "; "))},
			notes...)
	}
	made := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	for _, note := range notes {
		if note != "" {
			made.Content = append(made.Content, &sdk.TextContent{Text: note})
		}
	}
	return made, nil, nil
}

// shortenJSON shortens a JSON document to a number of bytes: it
// cuts lists and strings, ever shorter until the document fits.
// Each cut is a line that says what was cut. Exact numbers
// become decimals.
func shortenJSON(document []byte, limit int) (text string, cuts []string, err error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		return "", nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	plain := termtext.JSON(decimals(compact.Bytes()))
	if len(plain) <= limit {
		return string(plain), nil, nil
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber() // so that numbers stay as they are
	if err := d.Decode(&value); err != nil {
		return "", nil, err
	}
	for longest := 512; longest > 0; longest /= 2 {
		s := shortener{longest: longest, lengths: map[string]int{}}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s.shorten(value, "")); err != nil {
			return "", nil, err
		}
		if short := bytes.TrimSpace(termtext.JSON(b.Bytes())); len(short) <= limit {
			return string(short), s.cuts(), nil
		}
	}
	return "", nil, fmt.Errorf("the answer has %d bytes, and can't be cut to %d: ask for less, such as one class", len(document), limit)
}

// A shortener cuts lists.
type shortener struct {
	longest int            // entries of a list or object
	lengths map[string]int // by path of what was cut: how long the longest was
}

func (s *shortener) shorten(value any, path string) any {
	switch v := value.(type) {
	case []any:
		s.note(path, len(v), s.longest)
		short := make([]any, min(len(v), s.longest))
		for i := range short {
			short[i] = s.shorten(v[i], path+"[]")
		}
		return short
	case map[string]any:
		// The fields of a report are few; an object with many
		// keys is a table.
		limit := max(s.longest, 32)
		s.note(path, len(v), limit)
		short := make(map[string]any, min(len(v), limit))
		for _, key := range slices.Sorted(maps.Keys(v))[:min(len(v), limit)] {
			name := beginning(key, maxKey)
			short[name] = s.shorten(v[key], path+"."+name)
		}
		return short
	case string:
		s.note(path, len(v), maxString)
		return beginning(v, maxString)
	}
	return value
}

func (s *shortener) note(path string, length, limit int) {
	if length > limit {
		s.lengths[path] = max(s.lengths[path], length)
	}
}

// cuts returns a line for each path at which something was cut.
func (s *shortener) cuts() []string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(s.lengths)) {
		lines = append(lines,
			termtext.Sprintf("%s has its beginning only, of a length of up to %d",
				strings.TrimPrefix(path, "."), s.lengths[path]))
	}
	return lines
}

// exactFields are the fields of reports that have exact numbers,
// as texts: "7655093767/2". In a field by typed time, the type is
// their key.
var exactFields = []string{
	"ambiguous", "attributed", "attributed_ns", "attributed_weight", "denominator",
	"denominator_hits", "free", "hits", "inferred",
	"lifetime_ns", "likely", "min_cost", "min_hits", "recorded", "shared_unread", "time_ns", "total", "unknown",
	"weight", "woken",
	"LOAD", "MONITOR", "PRIO", "RUN", "WAIT",
}

// exactNumber matches a field with an exact number in compact
// JSON. No text has this in it: its quotes are escaped.
var exactNumber = regexp.MustCompile(`([{,]"(?:` + strings.Join(exactFields, "|") +
	`)":)"(-?[0-9]+(?:/[0-9]+)?)"`)

// decimals replaces exact numbers by decimals, which assistants compute with.
// Whole numbers stay exact.
func decimals(compact []byte) []byte {
	return exactNumber.ReplaceAllFunc(compact, func(field []byte) []byte {
		parts := exactNumber.FindSubmatch(field)
		exact, ok := new(big.Rat).SetString(string(parts[2]))
		if !ok {
			return field // a fraction of zero
		}
		if exact.IsInt() {
			return append(parts[1], exact.Num().String()...)
		}
		near, _ := exact.Float64()
		return strconv.AppendFloat(parts[1], near, 'f', -1, 64)
	})
}
