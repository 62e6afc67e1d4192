package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image makes the image of one platform: the programs, and a
// folder for what they write. User 0 keeps the capabilities that
// a container is given.
func (r *release) image(p platform, parts string) (v1.Image, error) {
	list := []entry{{"tmp/", 0o1777, ""}}
	for _, name := range append(programs[:len(programs):len(programs)], "LICENSE") {
		list = append(list, entry{name, mode(name), filepath.Join(parts, name)})
	}
	var files bytes.Buffer
	if err := r.writeTar(&files, list); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	date := v1.Time{Time: r.date}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	base, err = mutate.ConfigFile(base, &v1.ConfigFile{
		OS: p.system, Architecture: p.processor, Created: date,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{"/cpprof"}, User: "0:0", WorkingDir: "/tmp", Env: []string{"PATH=/"},
			Labels: map[string]string{"org.opencontainers.image.version": r.version,
				"org.opencontainers.image.source": "https://github.com/cpprof/cpprof"},
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(base, mutate.Addendum{Layer: layer,
		History: v1.History{Created: date, CreatedBy: "go run ./internal/release"}})
}

// writeImages writes images as one, of several platforms, in a
// file that registries' tools read.
func (r *release) writeImages(images []v1.Image) error {
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, i := range images {
		c, err := i.ConfigFile()
		if err != nil {
			return err
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: i, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: c.OS, Architecture: c.Architecture}}})
	}
	folder, err := os.MkdirTemp("", "cpprof-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	top, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	err = top.AppendIndex(all, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		// what podman, docker and containerd call it, as if it
		// was built there
		"io.containerd.image.name": "docker.io/library/cpprof:" + r.version}))
	if err != nil {
		return err
	}
	list, err := entries(folder, "")
	if err != nil {
		return err
	}
	f, err := os.Create(r.imagePath())
	if err != nil {
		return err
	}
	return errors.Join(r.writeTar(f, list), f.Close())
}

func (r *release) imagePath() string {
	return r.name(platform{"linux", "image"}, ".tar")
}
