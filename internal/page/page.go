package page

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
	"sync"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Page is what to show.
type Page struct {
	Name      string // of the recording's file
	Recording *sampledata.Recording
	Options   views.Options
	Config    *config.Config // for the findings
	// The recording before its time was restricted to calls; nil
	// if it is not.
	Whole *sampledata.Recording
	// the view that is shown first: "*" for the Server View, or
	// a class; "" lets the page choose
	Open string

	// Against is another recording to compare with. Its
	// Recording is nil if there is none.
	Against views.Named

	// Tree, if it is not nil, is shown in place of the views:
	// one that was refined or pruned. It has no timeline. If
	// there is another recording, it is a tree of
	// calltree.Merge.
	Tree  *calltree.Tree
	Title string // of Tree

	// MaxMoments limits how many changes of stacks the page
	// holds; 0 is about as much as fits 10 MB. If there are
	// more, neighbouring samples are taken together.
	MaxMoments int
}

//go:embed assets
var assets embed.FS

// scripts are the files of the page's script, in their order.
var scripts = []string{"exact", "data", "sums", "tree", "colors", "canvas", "graph", "timeline", "latency", "tracks", "tables", "main", "start"}

// A policy allows nothing but the page's own style and script.
const policy = "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; img-src data:; connect-src %s; base-uri 'none'; form-action 'none'"

// static is what is the same in all pages. Few runs of cpprof need it.
var static = sync.OnceValue(func() (s struct{ before, after, style, script string }) {
	s.before, s.after, _ = strings.Cut(asset("page.html"), "{{Data}}")
	s.style = asset("page.css")
	var b strings.Builder
	b.WriteString("'use strict';\n")
	for _, name := range scripts {
		b.WriteString(asset(name + ".js"))
	}
	s.script = b.String()
	return s
})

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // can't happen: it is part of the program
	}
	return string(text)
}

// Write writes the page as one file, with its data in it.
func Write(w io.Writer, p *Page) error {
	data, err := Data(p)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	out.WriteString(shell(p.Name, "", false, false))
	packed := base64.NewEncoder(base64.StdEncoding, out)
	if _, err := packed.Write(data); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	out.WriteString(static().after)
	return out.Flush()
}

// shell returns the page up to its data. If there is a source,
// the page's script loads the result of Data from this path of
// the page's own server, relative to the page. It loads the data
// again when they have changed. If lines is set, it asks for the
// source of functions at "source". If pprof is set, the page has
// a link to "pprof".
func shell(name, source string, lines, pprof bool) string {
	var connect, attribute, link = "'none'", "", ""
	if source != "" {
		connect = "'self'"
	}
	if lines {
		attribute = ` data-lines="source"`
	}
	if pprof {
		link = `<a id="pprof" href="pprof" title="a profile for 'go tool pprof -http=: FILE'">pprof</a>`
	}
	return strings.NewReplacer(
		"{{Policy}}", fmt.Sprintf(policy, hash(static().style), hash(static().script), connect),
		"{{Name}}", html.EscapeString(name), "{{Source}}", html.EscapeString(source),
		"{{Lines}}", attribute, "{{Pprof}}", link,
		"{{Style}}", static().style, "{{Script}}", static().script).Replace(static().before)
}

// hash returns a hash as policies of browsers have it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}
