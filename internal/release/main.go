// Release makes the files of a release: archives for each
// system, packages and an image for Linux, lists of what is in
// the programs, and checksums. From the top of the repository:
//
//	go run ./internal/release v0.1.0 dist
//	go run ./internal/release v0.1.0 dist linux/amd64   for one system only
//
// The same commit, built by the same Go, gives the same files.
//
//	main.go      the programs
//	manual.go    manual pages and completions
//	archive.go   archives and checksums
//	image.go     the image for containers
//	packages.go  what other tools make: packages, and the lists of parts
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A platform is a system and processor for which cpprof is built.
type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "/" + p.processor }

// platforms lists them. Programs are recorded on Linux; recordings are read
// on all.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

// programs lists what is built.
var programs = []string{"cpprof", "kubectl-cpprof"}

// A release is what is made, and where.
type release struct {
	version string
	folder  string
	date    time.Time // of the commit
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var validVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9a-z.]+)?$`)

func run(args []string) error {
	if len(args) < 2 || !validVersion.MatchString(args[0]) {
		return errors.New("want a version and a new folder: go run ./internal/release v0.1.0 dist")
	}
	only, err := choose(args[2:])
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(args[1])
	if err != nil {
		return err
	}
	if err := checkClean("."); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		return fmt.Errorf("%w: give a folder that does not exist", err)
	}
	r := &release{version: args[0], folder: folder}
	if r.date, err = commitDate("."); err != nil {
		return err
	}
	return r.make(only)
}

// choose returns the platforms of these names; without a name, all.
func choose(names []string) (chosen []platform, err error) {
	for _, name := range names {
		system, processor, _ := strings.Cut(name, "/")
		p := platform{system, processor}
		if !slices.Contains(platforms, p) {
			return nil, fmt.Errorf("%s: want one of %v", name, platforms)
		}
		chosen = append(chosen, p)
	}
	if chosen == nil {
		return platforms, nil
	}
	return chosen, nil
}

// make makes all files of some platforms.
func (r *release) make(of []platform) error {
	parts, err := os.MkdirTemp("", "cpprof-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parts)
	own := filepath.Join(parts, "own")
	if err := r.build(platform{runtime.GOOS, runtime.GOARCH}, own); err != nil {
		return err
	}
	manual := filepath.Join(parts, "manual")
	if err := r.writeManual(filepath.Join(own, "cpprof"), manual); err != nil {
		return err
	}
	var images []v1.Image
	for _, p := range of {
		folder := filepath.Join(parts, p.system+p.processor)
		if err := r.makePlatform(p, folder, manual); err != nil {
			return fmt.Errorf("%v: %w", p, err)
		}
		if p.system != "linux" {
			continue
		}
		i, err := r.image(p, folder)
		if err != nil {
			return fmt.Errorf("%v: image: %w", p, err)
		}
		images = append(images, i)
	}
	if images != nil {
		if err := r.writeImages(images); err != nil {
			return fmt.Errorf("image: %w", err)
		}
	}
	return writeChecksums(r.folder)
}

// checkClean returns an error if a checkout differs from its commit.
func checkClean(checkout string) error {
	out, err := git(checkout, "status", "--porcelain")
	if err != nil || out == "" {
		return err
	}
	changed := strings.Split(out, "\n")
	if more := len(changed) - 10; more > 0 {
		changed = append(changed[:10], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("the checkout differs from its commit: commit, stash (git stash -u) or remove\n%s",
		strings.Join(changed, "\n"))
}

// commitDate returns the date of the commit, which all files get.
func commitDate(checkout string) (time.Time, error) {
	out, err := git(checkout, "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(out, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// git returns what git says, without the last newline.
func git(checkout string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = checkout
	out, err := c.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, failed.Stderr)
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// name returns the name of a file of the release.
func (r *release) name(p platform, end string) string {
	return filepath.Join(r.folder, fmt.Sprintf("cpprof_%s_%s_%s%s",
		strings.TrimPrefix(r.version, "v"), p.system, p.processor, end))
}

// makePlatform makes all files of one platform.
func (r *release) makePlatform(p platform, parts, manual string) error {
	if err := os.CopyFS(parts, os.DirFS(manual)); err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(parts, name), text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	if err := r.build(p, parts); err != nil {
		return err
	}
	program := filepath.Join(parts, "cpprof")
	if p.system == "windows" {
		program += ".exe"
	}
	if err := r.writeArchive(r.name(p, ".tar.gz"), parts); err != nil {
		return err
	}
	if err := listParts(program, r.name(p, ".cdx.json")); err != nil {
		return err
	}
	if p.system != "linux" {
		return nil
	}
	return r.writePackages(p, parts)
}

// build builds the programs without symbols, without paths of
// this machine and without anything that differs from build to
// build. They speak HTTP/1.1, which is 0.5 MB less: nothing that
// they talk to wants HTTP/2.
func (r *release) build(p platform, folder string) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-tags=nethttpomithttp2",
		"-ldflags=-s -w -buildid= -X main.released=" + r.version, "-o", folder + "/"}
	for _, name := range programs {
		args = append(args, "./cmd/"+name)
	}
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.processor,
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	return output(c)
}

// output runs a command, and returns what it said if it fails.
func output(c *exec.Cmd) error {
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, said)
	}
	return nil
}

// files lists the files in a folder, in order, by their paths in it.
func files(folder string) (list []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, path)
		}
		return err
	})
	return list, err
}
