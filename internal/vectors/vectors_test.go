package vectors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestFilesReadsBothFolders(t *testing.T) {
	dir := t.TempDir()
	more := filepath.Join(dir, "callpath-more.json")
	fixture.Check(t, os.WriteFile(more, []byte(`{}`), 0o666))
	t.Setenv(Env, dir)
	files := Files(t, "callpath*.json")
	if len(files) < 2 || files[len(files)-1] != more {
		t.Errorf("files %q, want the module's own and %s", files, more)
	}
}

func TestFolderWithoutVectorsIsAnError(t *testing.T) {
	if _, err := in(t.TempDir(), "callpath*.json"); err == nil {
		t.Error("an empty folder passes")
	}
	if _, err := in(filepath.Join(t.TempDir(), "missing"), "*"); err == nil {
		t.Error("a missing folder passes")
	}
}

func TestReadIsStrict(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1}`, ""},
		{`{"a":1,"b":2}`, "unknown field"},
		{`{"a":1} {}`, "something follows"},
		{`{"a":`, "unexpected EOF"},
	} {
		var v struct{ A int }
		err := Read(strings.NewReader(c.text), &v)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
