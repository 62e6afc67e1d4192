package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/cpprof/cpprof/internal/fixture"
)

// fakeParts returns a folder with files of the names that an image has.
func fakeParts(t *testing.T, says string, mode os.FileMode) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"LICENSE", "cpprof", "kubectl-cpprof", "README.md"} {
		fixture.Check(t, os.WriteFile(filepath.Join(folder, name), []byte(says+name), mode))
	}
	return folder
}

// An image has each platform's programs, and depends on nothing
// of the machine that makes it.
func TestImage(t *testing.T) {
	var made [][]byte
	r := &release{version: "v1.2.3", date: time.Unix(1e9, 0).UTC()}
	for i := range 2 {
		r.folder = t.TempDir()
		var images []v1.Image
		for _, p := range platforms[:2] {
			one := fixture.Must(r.image(p, fakeParts(t, p.processor, os.FileMode(0o600+i*0o44))))(t)
			images = append(images, one)
		}
		fixture.Check(t, r.writeImages(images))
		text, err := os.ReadFile(filepath.Join(r.folder, "cpprof_1.2.3_linux_image.tar"))
		fixture.Check(t, err)
		made = append(made, text)
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two images of the same files differ")
	}
	for _, p := range platforms[:2] {
		folder := t.TempDir()
		got := unpackImage(t, r.imagePath(), p, folder)
		if got.name != "docker.io/library/cpprof:v1.2.3" {
			t.Errorf("%v: the image is called %q", p, got.name)
		}
		want := `{"architecture":"` + p.processor + `","created":"2001-09-09T01:46:40Z",` +
			`"history":[{"created":"2001-09-09T01:46:40Z","created_by":"go run ./internal/release"}],"os":"linux",` +
			`"config":{"Entrypoint":["/cpprof"],"Env":["PATH=/"],"Labels":{"org.opencontainers.image.source":"https://github.com/cpprof/cpprof",` +
			`"org.opencontainers.image.version":"v1.2.3"},"User":"0:0","WorkingDir":"/tmp"}}`
		if got.config != want {
			t.Errorf("%v: the configuration is\n%s, want\n%s", p, got.config, want)
		}
		const files = "dtrwxrwxrwx 0:0 tmp/\n-rwxr-xr-x 0:0 cpprof\n-rwxr-xr-x 0:0 kubectl-cpprof\n-rw-r--r-- 0:0 LICENSE\n"
		if got.files != files {
			t.Errorf("%v: the files are\n%s, want\n%s", p, got.files, files)
		}
		text, err := os.ReadFile(filepath.Join(folder, "cpprof"))
		if err != nil || string(text) != p.processor+"cpprof" {
			t.Errorf("%v: its program is %q, %v", p, text, err)
		}
	}
}

// unpacked says what an image has.
type unpacked struct{ name, config, files string }

// unpackImage reads the image of a platform with all its
// checksums, and writes its files to a folder.
func unpackImage(t *testing.T, path string, p platform, folder string) unpacked {
	t.Helper()
	f := fixture.Must(os.Open(path))(t)
	defer f.Close()
	blobs := t.TempDir()
	untar(t, f, blobs)
	top := fixture.Must(layout.ImageIndexFromPath(blobs))(t)
	if err := validate.Index(top); err != nil {
		t.Error(err)
	}
	m, err := top.IndexManifest()
	if err != nil || len(m.Manifests) != 1 {
		t.Fatalf("%v, %v: want one image", m, err)
	}
	all := fixture.Must(top.ImageIndex(m.Manifests[0].Digest))(t)
	list := fixture.Must(all.IndexManifest())(t)
	at := slices.IndexFunc(list.Manifests, func(d v1.Descriptor) bool {
		return d.Platform != nil && d.Platform.OS == p.system && d.Platform.Architecture == p.processor
	})
	if at < 0 {
		t.Fatalf("no image for %v: %v", p, list)
	}
	i := fixture.Must(all.Image(list.Manifests[at].Digest))(t)
	layers, err := i.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	layer := fixture.Must(layers[0].Uncompressed())(t)
	defer layer.Close()
	return unpacked{m.Manifests[0].Annotations["io.containerd.image.name"], configOf(t, i), untar(t, layer, folder)}
}

// configOf returns the configuration of an image without its list of layers.
func configOf(t *testing.T, i v1.Image) string {
	t.Helper()
	c := fixture.Must(i.ConfigFile())(t)
	text := fixture.Must(json.Marshal(c))(t)
	var fields map[string]json.RawMessage
	fixture.Check(t, json.Unmarshal(text, &fields))
	before, after, ok := strings.Cut(string(text), `"rootfs":`+string(fields["rootfs"])+",")
	if !ok {
		t.Fatalf("no layers in %s", text)
	}
	return before + after
}

// untar writes the files of an archive to a folder, and lists them.
func untar(t *testing.T, from io.Reader, folder string) string {
	t.Helper()
	var list strings.Builder
	for all := tar.NewReader(from); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			return list.String()
		}
		fixture.Check(t, err)
		fmt.Fprintf(&list, "%v %d:%d %s\n", h.FileInfo().Mode(), h.Uid, h.Gid, h.Name)
		path := filepath.Join(folder, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o777)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			var text []byte
			if text, err = io.ReadAll(all); err == nil {
				err = os.WriteFile(path, text, h.FileInfo().Mode())
			}
		}
		fixture.Check(t, err)
	}
}
