package tui

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
)

// errNoEditor says which settings name an editor.
var errNoEditor = errors.New("no editor: set $EDITOR, or give --editor")

// editorCommand returns the command that opens a file at a line
// in an editor, such as "vim" or "code --wait". No shell sees
// it.
func editorCommand(editor, file string, line int) (*exec.Cmd, error) {
	words := strings.Fields(editor)
	if len(words) == 0 {
		return nil, errNoEditor
	}
	at := fmt.Sprintf("%s:%d", file, line)
	switch strings.TrimSuffix(filepath.Base(words[0]), ".exe") {
	case "code", "code-insiders", "codium", "cursor", "windsurf":
		words = append(words, "--goto", at)
	case "hx", "helix", "subl", "zed":
		words = append(words, at)
	case "goland", "idea":
		words = append(words, "--line", fmt.Sprint(line), file)
	default:
		words = append(words, fmt.Sprintf("+%d", line), file)
	}
	return exec.Command(words[0], words[1:]...), nil
}

// edit opens the source of the selected function in the user's
// editor, at its hottest line if the details have counted the
// lines.
func (w *profileWindow) edit(e *refine.Entry) {
	last, _ := e.Path.Last()
	if calltree.KindOf(last.Name) != calltree.Function || last.Aspect() {
		w.a.fail(fmt.Errorf("%s is no function with a source", last.Name))
		return
	}
	s := report.SourceOf(w.a.recording, last.Name, w.detail.counts(last.Name))
	if s.Missing != "" {
		w.a.fail(fmt.Errorf("%s: %s", last.Name, s.Missing))
		return
	}
	editor := cmp.Or(w.a.editor, os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	c, err := editorCommand(editor, s.File, s.Line())
	if err != nil {
		w.a.fail(err)
		return
	}
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	w.a.leave(func() error {
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
		}
		return nil
	})
}
