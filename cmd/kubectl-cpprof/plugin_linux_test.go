package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
)

// A result is what a command line brought.
type result struct {
	status   int
	out, err string
}

// call runs a command line.
func call(stop <-chan os.Signal, args ...string) result {
	var out, said bytes.Buffer
	status, err := run(append([]string{"--image=registry.example.com/cpprof:v1"}, args...), &out, &said, stop)
	if err != nil {
		termtext.Fprintf(&said, "kubectl cpprof: %v\n", err)
	}
	return result{status, out.String(), said.String()}
}

func (r result) check(t *testing.T, status int, texts ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d", r.status, status)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			t.Errorf("no %q", text)
		}
	}
	if strings.Contains(r.err, `\x0a`) {
		t.Error("what are lines is one line")
	}
	if t.Failed() {
		t.Fatalf("output:\n%s\nerrors:\n%s", r.out, r.err)
	}
}

// The real kubectl adds a container that may just read others,
// and the real cpprof in it says why a program of another user,
// mount and process namespace is slow, whose file is gone.
func TestPodLong(t *testing.T) {
	fixture.LongInTurn(t, 1)
	c := newCluster(t, "server")
	c.startTarget(fixture.Build(t, "mutex"))
	c.image()
	t.Chdir(t.TempDir())
	fixture.Check(t, replace(c.target))

	r := call(nil, "why", "api-0", "-n", "shop", "-o", "run.cpprof", "--", "--top", "1")
	r.check(t, 0, "go:main.worker (8.0 goroutines) spends", "waiting for main.state.mu", "main.hold", "report run.cpprof",
		"adding the container cpprof-", "has ended; pod api-0 lists it")
	if !strings.Contains(r.out, "waiting for main.state.mu") {
		t.Errorf("the answer is not on standard output: %s", r.out)
	}
	if rights := c.lastAdded(); !strings.Contains(rights, `"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["SYS_PTRACE","DAC_OVERRIDE"],"drop":["ALL"]},"runAsNonRoot":false,"runAsUser":0}`) {
		t.Errorf("it may do %s", rights)
	}
	has(t, "run.cpprof", "main.hold")
	call(nil, "why", "api-0", "-o", "run.cpprof").check(t, 2, "run.cpprof exists")

	call(nil, "stuck", "pod/api-0").check(t, 0, "19 goroutines", "none was found to be stuck for good")

	// until Ctrl-C
	stop := make(chan os.Signal, 1)
	time.AfterFunc(4*time.Second, func() { stop <- os.Interrupt })
	call(stop, "record", "api-0", "-o", "until.cpprof").check(t, 0, "ending; again to give up", "has ended")
	has(t, "until.cpprof", "main.hold")

	// cpprof's own errors and status
	call(nil, "why", "api-0", "-o", "bad.cpprof", "--", "--no-such-flag").check(t, 2, "unknown flag", "has ended")
	call(nil, "record", "api-0", "-d", "100ms", "-p", "nobody", "-o", "bad.cpprof").check(t, 2, "no Go program of this name", "-p 1 ")
	if _, err := os.Stat("bad.cpprof"); err == nil {
		t.Error("a recording of a run that failed")
	}

	// when the program ends, the kernel ends all processes of its namespace
	c.executed = func() { time.AfterFunc(time.Second, func() { _ = syscall.Kill(c.target, syscall.SIGKILL) }) }
	call(nil, "record", "api-0", "-d", "1m", "-o", "bad.cpprof").check(t, 1, "its recording is lost", "or the program's container ended")
}

// replace puts another program where a program's file was.
func replace(pid int) error {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return err
	}
	path = fmt.Sprintf("/proc/%d/root%s", pid, path)
	if err := os.Remove(path); err != nil {
		return err
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return os.WriteFile(path, self, 0o755)
}

// has checks that a recording can be read and has a function.
func has(t *testing.T, path, function string) {
	t.Helper()
	r := fixture.Must(sampledata.Open(path))(t)
	for _, f := range r.Functions {
		if f.Name == function {
			return
		}
	}
	t.Errorf("%s has no function %s", path, function)
}

// A container without a Go program is named with what it runs.
func TestNoGoProgramLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	c := newCluster(t, "server")
	c.startTarget("/bin/sh", "-c", "echo; read never")
	c.image()
	t.Chdir(t.TempDir())
	call(nil, "why", "api-0").check(t, 1, "the container has no Go program: it runs 1 target", "has ended")
}

// What the cluster refuses is said in plain words, with what helps.
func TestRefused(t *testing.T) {
	forbidden := func(message string) object {
		return failure(http.StatusForbidden, "Forbidden", message, object{"name": "api-0", "kind": "pods"})
	}
	patch := "PATCH " + podPath + "/ephemeralcontainers"
	for name, test := range map[string]struct {
		set  func(*cluster)
		args []string
		want []string
	}{
		"missing": {nil, []string{"why", "api-9"}, []string{`pods "api-9" not found`, "kubectl get pods"}},
		"several": {nil, []string{"why", "api-0"}, []string{"pod api-0: the pod has 2 containers: give one with -c: server, proxy"}},
		"unknown": {nil, []string{"why", "api-0", "-c", "sever"}, []string{"the pod has no container sever: it has server, proxy"}},
		"rights": {func(c *cluster) {
			c.refuse[patch] = forbidden(`pods "api-0" is forbidden: User "dev" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "shop"`)
		}, []string{"why", "api-0", "-c", "server"}, []string{`User "dev" cannot patch`, "ask for the verb patch of pods/ephemeralcontainers"}},
		"sight": {func(c *cluster) {
			c.refuse["GET "+podPath] = forbidden(`pods "api-0" is forbidden: User "dev" cannot get resource "pods" in API group "" in the namespace "shop"`)
		}, []string{"why", "api-0"}, []string{`User "dev" cannot get`, "\nYou may not see pods: ask for the verb get of pods."}},
		"gone": {func(c *cluster) { c.server.Close() }, []string{"why", "api-0"}, []string{"kubectl get: The connection to the server"}},
		"security": {func(c *cluster) {
			c.refuse[patch] = forbidden(`pods "api-0" is forbidden: violates PodSecurity "baseline:latest": non-default capabilities (container "cpprof" must not include "SYS_PTRACE" in securityContext.capabilities.add)`)
		}, []string{"record", "api-0", "-c", "server"}, []string{"must not include", "The level 'privileged' allows it"}},
		"webhook": {func(c *cluster) {
			c.refuse[patch] = forbidden(`admission webhook "kyverno" denied the request: no root`)
		}, []string{"stuck", "api-0", "-c", "server"}, []string{"no root", "A rule of the cluster refuses"}},
		"disabled": {func(c *cluster) {
			c.refuse[patch] = failure(http.StatusNotFound, "NotFound", "the server could not find the requested resource", object{})
		}, []string{"why", "api-0", "-c", "server"}, []string{"ephemeral containers are disabled", "older than Kubernetes 1.25"}},
		"image": {func(c *cluster) {
			c.waiting = object{"reason": "ImagePullBackOff", "message": `Back-off pulling image "registry.example.com/cpprof:v1"`}
		}, []string{"why", "api-0", "-c", "server"}, []string{"it does not start: ImagePullBackOff: Back-off pulling image", "see --image"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, "server", "proxy")
			if test.set != nil {
				c.mu.Lock()
				test.set(c)
				c.mu.Unlock()
			}
			t.Chdir(t.TempDir())
			call(nil, test.args...).check(t, 1, test.want...)
		})
	}
}

// A mistake in the command line is found before the cluster is asked.
func TestCommandLine(t *testing.T) {
	t.Setenv(imageVar, "")
	for _, test := range []struct{ line, want string }{
		{"", "want a command and a pod"},
		{"why", "want a command and a pod"},
		{"top api-0", "want a command and a pod"},
		{"why api-0 -x", "unknown shorthand flag"},
		{"why api-0", "give the image of cpprof: --image"},
		{"stuck api-0 --image i -o x.cpprof", "stuck makes no recording"},
		{"stuck api-0 --image i -d 3s", "stuck makes no recording"},
		{"why deploy/api --image i", "is not the name of a pod: 'kubectl get pods' lists them"},
		{"record api-0 --image i -d -3s", "-d -3s: want a time such as 10s"},
		{"why api-0 --image i -- --top 1 -o x.cpprof", "give it before --"},
	} {
		status, err := run(strings.Fields(test.line), io.Discard, io.Discard, nil)
		if status != 2 || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: status %d, %v", test.line, status, err)
		}
	}
	var out bytes.Buffer
	if status, err := run([]string{"--help"}, &out, io.Discard, nil); status != 0 || err != nil || !strings.Contains(out.String(), "--image IMAGE") {
		t.Errorf("status %d, %v: %s", status, err, out.String())
	}
	t.Setenv("PATH", "")
	if _, err := run(strings.Fields("why api-0 --image i"), io.Discard, io.Discard, nil); err == nil || !strings.Contains(err.Error(), "no kubectl in $PATH") {
		t.Error(err)
	}
}

// What a container sends is not trusted: nothing is written
// beside the recording, and a part is no recording.
func TestReceive(t *testing.T) {
	folder := t.TempDir()
	output := filepath.Join(folder, "output")
	fixture.Check(t, os.WriteFile(output, []byte("said\n"), 0o600))
	recording := filepath.Join(folder, "made.cpprof")
	fixture.Check(t, os.Mkdir(recording, 0o700))
	for _, name := range []string{"SampleData", "Strings"} {
		fixture.Check(t, os.WriteFile(filepath.Join(recording, name), bytes.Repeat([]byte(name), 1000), 0o600))
	}
	var sent bytes.Buffer
	fixture.Check(t, send(&sent, output, recording, 3))
	received := filepath.Join(folder, "received.cpprof")
	var out bytes.Buffer
	if status, err := receive(bytes.NewReader(sent.Bytes()), &out, received); status != 3 || err != nil || out.String() != "said\n" {
		t.Errorf("%d, %v, %q", status, err, out.String())
	}
	text, err := os.ReadFile(filepath.Join(received, "Strings"))
	if want := bytes.Repeat([]byte("Strings"), 1000); err != nil || !bytes.Equal(text, want) {
		t.Errorf("%q, %v", text, err)
	}
	for cut := 0; cut < sent.Len()-4*512; cut += 512 {
		part := filepath.Join(folder, "part.cpprof")
		if _, err := receive(bytes.NewReader(sent.Bytes()[:cut]), io.Discard, part); err == nil {
			t.Errorf("%d bytes are enough", cut)
		}
		if _, err := os.Stat(part); err == nil {
			t.Fatalf("a part of a recording is left after %d bytes", cut)
		}
	}
	for _, h := range []tar.Header{
		{Name: "recording/../x", Typeflag: tar.TypeReg}, {Name: "recording//etc/x", Typeflag: tar.TypeReg}, {Name: "x", Typeflag: tar.TypeReg},
		{Name: "recording/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, {Name: "recording/.x", Typeflag: tar.TypeReg},
	} {
		var b bytes.Buffer
		fixture.Check(t, tar.NewWriter(&b).WriteHeader(&h))
		if _, err := receive(&b, io.Discard, filepath.Join(folder, "hostile.cpprof")); err == nil || !strings.Contains(err.Error(), "belongs to no recording") {
			t.Errorf("%s: %v", h.Name, err)
		}
	}
}

// A few bytes can stand for a file of 1 TB with holes. Nothing
// of it is written.
func TestReceiveBomb(t *testing.T) {
	for _, name := range []string{"output", "recording/SampleData"} {
		var b bytes.Buffer
		h := tar.Header{Name: name, Typeflag: tar.TypeReg, Format: tar.FormatPAX, PAXRecords: map[string]string{
			"XXX.sparse.size": "1099511627776", "XXX.sparse.numblocks": "1", "XXX.sparse.map": "0,0",
		}}
		fixture.Check(t, tar.NewWriter(&b).WriteHeader(&h))
		sent := bytes.ReplaceAll(b.Bytes(), []byte("XXX."), []byte("GNU.")) // which no writer makes
		folder := filepath.Join(t.TempDir(), "bomb.cpprof")
		var out bytes.Buffer
		_, err := receive(bytes.NewReader(sent), &out, folder)
		if want := fmt.Sprintf("more than 1024 MB with %q: record for a shorter time", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := os.Stat(folder); err == nil || out.Len() > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
}
