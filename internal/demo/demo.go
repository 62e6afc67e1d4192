// Package demo is a program to try cpprof on: a small server with four problems that are known beforehand. Its
// source is embedded, and built where it is wanted.
package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed workload/*.go
var workload embed.FS

//go:embed cpprof.yaml
var config []byte

// Config is a config file (see package aspects) that defines the demo's own aspect, @queue.
func Config() []byte { return bytes.Clone(config) }

// goMod is written beside the source, since a folder that has one can't be embedded.
const goMod = "module orderdesk\n\ngo 1.21\n"

// Build builds the demo in a folder, which must be there, and gives the program's path. It has the debug
// information that a profiler needs. Nothing is downloaded, but the Go toolchain must be installed.
//
// The program runs for a minute, or for as long as "-for DURATION" says, and ends earlier when its parent does;
// with "-stdin" also when its standard input ends. It sets GOMAXPROCS to 2 unless the environment sets it.
func Build(ctx context.Context, dir string) (string, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("building the demo: no Go toolchain found: the demo is a small Go program that is built first: " +
			"install Go from https://go.dev/dl, or record a program of your own: cpprof record -- ./program")
	}
	source := filepath.Join(dir, "orderdesk.src")
	if err := writeSource(source); err != nil {
		return "", fmt.Errorf("building the demo: %w", err)
	}
	binary := filepath.Join(dir, "orderdesk")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return "", fmt.Errorf("building the demo: %w", err)
	}
	cmd := exec.CommandContext(ctx, goTool, "build", "-o", binary, ".")
	cmd.Dir = source
	cmd.Env = environment()
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("building the demo: %w", ctx.Err())
	case errors.As(err, new(*exec.ExitError)):
		return "", fmt.Errorf("building the demo: %s build: %w\n%s", goTool, err, bytes.TrimSpace(out))
	case err != nil:
		return "", fmt.Errorf("building the demo: %w", err)
	}
	return binary, nil
}

// writeSource puts the embedded source into a new folder.
func writeSource(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := workload.ReadDir("workload")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := workload.ReadFile("workload/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), text, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod), 0o644)
}

// environment is that of the build: ours, without what would make another program of the same source. GOFLAGS
// may strip debug information, GOOS and GOARCH build for elsewhere, a workspace does not know the module.
func environment() []string {
	var env []string
	for _, e := range os.Environ() {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOWORK", "GO111MODULE", "GOTOOLCHAIN", "CGO_ENABLED":
		default:
			env = append(env, e)
		}
	}
	return append(env, "GOFLAGS=", "GOWORK=off", "GO111MODULE=on", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
}
