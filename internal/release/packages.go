package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The tools, which the go command fetches and builds. cpprof
// does not depend on them.
const (
	packager = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"
	lister   = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
)

// listParts writes the modules that are in a program, as
// CycloneDX defines it.
func listParts(program, to string) error {
	return output(exec.Command("go", "run", lister, "bin", "-json", "-std",
		"-noserial", "-notimestamp", "-output", to, program))
}

// writePackages writes packages for Debian, Fedora and Alpine, and those
// like them.
func (r *release) writePackages(p platform, parts string) error {
	config := filepath.Join(filepath.Dir(parts), "nfpm.yaml")
	text, err := r.packageConfig(p, parts)
	if err != nil {
		return err
	}
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm", "apk"} {
		c := exec.Command("go", "run", packager, "package", "--config", config,
			"--packager", kind, "--target", r.name(p, "."+kind))
		c.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.date.Unix()))
		if err := output(c); err != nil {
			return err
		}
	}
	return nil
}

// packageConfig says where the files of a package are installed.
func (r *release) packageConfig(p platform, parts string) (string, error) {
	date := r.date.Format(time.RFC3339)
	var b strings.Builder
	fmt.Fprintf(&b, `name: cpprof
platform: linux
arch: %s
version: %s
section: devel
maintainer: the cpprof authors
description: A call-path profiler for running Go programs
license: MIT
mtime: %s
contents:
`, p.processor, r.version, date)
	list, err := files(parts)
	if err != nil {
		return "", err
	}
	for _, name := range list {
		fmt.Fprintf(&b, "- {src: %q, dst: %q, file_info: {mode: %#o, mtime: %s}}\n",
			filepath.Join(parts, name), installed(name), mode(name), date)
	}
	return b.String(), nil
}

// installed returns where a file of the archive is installed.
func installed(name string) string {
	base := filepath.Base(name)
	switch {
	case slices.Contains(programs, name):
		return "/usr/bin/" + name
	case name == "LICENSE":
		return "/usr/share/doc/cpprof/copyright"
	case filepath.Dir(name) == pages:
		return "/usr/share/man/man1/" + base
	case base == shells["zsh"]:
		return "/usr/share/zsh/vendor-completions/" + base
	case base == shells["fish"]:
		return "/usr/share/fish/vendor_completions.d/" + base
	case filepath.Dir(name) == completions:
		return "/usr/share/bash-completion/completions/" + base
	}
	return "/usr/share/doc/cpprof/" + base
}
