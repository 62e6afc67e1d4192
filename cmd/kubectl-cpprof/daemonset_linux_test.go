package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/google/pprof/profile"
	"go.yaml.in/yaml/v3"
)

const base = "docs/daemonset"

// kustomize returns what the real kubectl makes of the folder,
// with components: objects by their kinds.
func kustomize(t *testing.T, components ...string) map[string]object {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("this test needs the real kubectl: %v", err)
	}
	overlay := t.TempDir()
	up := fixture.Must(filepath.Rel(overlay, fixture.Root()))(t)
	text := fmt.Sprintf("resources: [%s]\nimages: [{name: cpprof, newName: registry.example.com/cpprof, newTag: v1}]\ncomponents:\n",
		filepath.Join(up, base))
	for _, c := range components {
		text += "- " + filepath.Join(up, base, c) + "\n"
	}
	fixture.Check(t, os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(text), 0o600))
	c := exec.Command("kubectl", "kustomize", overlay)
	said := &tail{}
	c.Stderr = said
	out, err := c.Output()
	if err != nil || said.String() != "" {
		t.Fatalf("kubectl kustomize: %v: %s", err, said)
	}
	kinds := map[string]object{}
	for all := yaml.NewDecoder(bytes.NewReader(out)); ; {
		var one any
		if err := all.Decode(&one); err == io.EOF {
			return kinds
		} else if err != nil {
			t.Fatal(err)
		}
		text := fixture.Must(json.Marshal(one))(t) // numbers as in other tests
		var o object
		fixture.Check(t, json.Unmarshal(text, &o))
		kinds[o["kind"].(string)] = o
	}
}

// pathIn returns what is at a path of names and indices.
func pathIn(of any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			of = of.(object)[step]
		case int:
			of = of.(list)[step]
		}
	}
	return of
}

// containerOf returns the container of a DaemonSet.
func containerOf(kinds map[string]object) object {
	return pathIn(kinds["DaemonSet"], "spec", "template", "spec", "containers", 0).(object)
}

// Kubernetes' own types know each field of the DaemonSet, and
// its parts fit each other.
func TestDaemonSet(t *testing.T) {
	kinds := kustomize(t, "priority", "probes")
	text := fixture.Must(json.Marshal(kinds["DaemonSet"]))(t)
	// kubectl reads what it changes with these types, and writes
	// what they know
	c := exec.Command("kubectl", "set", "env", "--local", "-f", "-", "NAME=value", "-o", "json")
	c.Stdin = bytes.NewReader(text)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var known object
	if err := json.Unmarshal(out, &known); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	within(t, "", kinds["DaemonSet"], known)
	pod := pathIn(known, "spec", "template", "spec").(object)
	container := containerOf(kinds)
	for what, parts := range map[string][2]any{
		"image":           {container["image"], "registry.example.com/cpprof:v1"},
		"hostPID":         {pod["hostPID"], true},
		"read-only root":  {pathIn(container, "securityContext", "readOnlyRootFilesystem"), true},
		"selector":        {pathIn(known, "spec", "selector", "matchLabels"), pathIn(known, "spec", "template", "metadata", "labels")},
		"service":         {pathIn(kinds["Service"], "spec", "selector"), pathIn(known, "spec", "template", "metadata", "labels")},
		"service's port":  {pathIn(kinds["Service"], "spec", "ports", 0, "targetPort"), pathIn(container, "ports", 0, "name")},
		"its node's":      {pathIn(kinds["Service"], "spec", "internalTrafficPolicy"), "Local"},
		"namespace":       {pathIn(kinds["Namespace"], "metadata", "name"), pathIn(known, "metadata", "namespace")},
		"secret":          {pathIn(pod, "volumes", 0, "name"), pathIn(container, "volumeMounts", 0, "name")},
		"folder to write": {pathIn(pod, "volumes", 1, "name"), pathIn(container, "volumeMounts", 1, "name")},
	} {
		if !reflect.DeepEqual(parts[0], parts[1]) {
			t.Errorf("%s: %v is not %v", what, parts[0], parts[1])
		}
	}
}

// within checks that one object has all of another.
func within(t *testing.T, path string, part, whole any) {
	t.Helper()
	switch p := part.(type) {
	case object:
		w, _ := whole.(object)
		for name, value := range p {
			within(t, path+"."+name, value, w[name])
		}
	case list:
		w, _ := whole.(list)
		if len(w) != len(p) {
			t.Errorf("%s: %v is not %v", path, whole, part)
			return
		}
		for i := range p {
			within(t, fmt.Sprintf("%s[%d]", path, i), p[i], w[i])
		}
	default:
		if part != whole {
			t.Errorf("%s: Kubernetes makes %v of %v", path, whole, part)
		}
	}
}

// A node runs a program in a container, as another user than
// root. Its own processes are in a user namespace, if asked for.
func startNode(t *testing.T, apart bool, program string) (pid int) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make a user namespace of several users")
	}
	hidden := t.TempDir()
	const script = `mount -t tmpfs none "$1" && cp "$2" "$1/target" && chmod 755 "$1" "$1/target" && mount -t proc proc /proc &&
unshare --pid --mount --mount-proc --fork --kill-child setpriv --reuid 1000 --regid 1000 --clear-groups "$1/target"; exit`
	cmd := exec.Command("sh", "-c", script, "sh", hidden, program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if apart {
		ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1 << 16}}
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = ids, ids
		cmd.SysProcAttr.GidMappingsEnableSetgroups = true
	}
	startNamespaces(t, cmd) // its end is the end of all processes
	return cmd.Process.Pid
}

// The agent serves a program of another user and another
// container with the capabilities of the DaemonSet, in a user
// namespace. Without one of them it doesn't.
func TestDaemonSetLong(t *testing.T) {
	fixture.LongInTurn(t, 0)
	container := containerOf(kustomize(t))
	b := &box{Root: newImage(t), Name: "agent", Target: startNode(t, true, fixture.Build(t, "mutex")), Enter: []string{"--user"}, Dies: true}
	b.take(t, container)
	b.try(t)
	const token = "s3cret"
	fixture.Check(t, os.MkdirAll(filepath.Join(b.Root, "run/cpprof"), 0o755))
	fixture.Check(t, os.WriteFile(filepath.Join(b.Root, "run/cpprof/token"), []byte(token), 0o400))
	args := texts(container["args"])
	at := slices.Index(args, ":6061")
	if at < 0 || pathIn(container, "ports", 0, "containerPort") != 6061. {
		t.Fatalf("the agent listens elsewhere: %q, %v", args, container["ports"])
	}
	args[at] = ":0"
	args = append([]string{cpprofPath}, append(args, "--match", "target")...)
	if text, said := askAgent(t, b.command(args), token); !strings.Contains(text, "main.hold") || said != "" {
		t.Errorf("with %v it serves %q and says %q", b.Capabilities, text, said)
	}
	for i, lacks := range b.Capabilities {
		less := *b
		less.Capabilities = slices.Delete(slices.Clone(b.Capabilities), i, i+1)
		text, said := askAgent(t, less.command(args), token)
		if text != "" || !strings.Contains(said, "without CAP_"+lacks+" the agent serves no programs of other users") {
			t.Errorf("without %s it serves %q and says %q", lacks, text, said)
		}
	}
}

// What the components add is permitted, and needed for what they
// are for. The kernel asks for these capabilities outside of
// user namespaces.
func TestDaemonSetComponentsLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	kinds := kustomize(t, "priority", "probes")
	b := &box{Root: newImage(t), Name: "agent", Target: startNode(t, false, fixture.Build(t, "mutex"))}
	b.take(t, containerOf(kinds))
	b.try(t)
	usual := &box{}
	usual.take(t, containerOf(kustomize(t)))
	if want := append(usual.Capabilities, "SYS_NICE", "BPF", "PERFMON"); !slices.Equal(b.Capabilities, want) {
		t.Fatalf("the components make it %v, want %v", b.Capabilities, want)
	}
	for lacks, want := range map[string]struct{ wakes, says string }{
		"SYS_NICE": {"short time slices", "(uprobe)"},
		"BPF":      {"real-time priority", "uprobes are not permitted"},
		"PERFMON":  {"real-time priority", "uprobes are not permitted"},
		"nothing":  {"real-time priority", "(uprobe)"},
	} {
		less := *b
		less.Capabilities = slices.DeleteFunc(slices.Clone(b.Capabilities), func(c string) bool { return c == lacks })
		out, err := less.command([]string{cpprofPath, "probe", "-p", "target", "-d", "500ms", "-o", "/tmp/" + lacks, "main.hold"}).CombinedOutput()
		noBreakpoints := strings.Contains(string(out), "breakpoints never fire here") // in some virtual machines
		if err != nil && !noBreakpoints || !strings.Contains(string(out), want.says) {
			t.Errorf("without %s: %v: no %q in %s", lacks, err, want.says, out)
		}
		if err != nil {
			continue
		}
		r := fixture.Must(sampledata.Open(filepath.Join(b.Root, "own", b.Name, lacks)))(t)
		if got := r.Header.Sampler.Wakes; got != want.wakes {
			t.Errorf("without %s it wakes by %s, want %s", lacks, got, want.wakes)
		}
	}
}

// askAgent starts an agent. It returns the profile of its only
// program as text, "" if it serves none, and what it warns of.
func askAgent(t *testing.T, c *exec.Cmd, token string) (text, said string) {
	t.Helper()
	warned := &tail{}
	c.Stderr = warned
	out := fixture.Must(c.StdoutPipe())(t)
	fixture.Check(t, c.Start())
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	url, _, _ := strings.Cut(line, "/discovery")
	port := url[strings.LastIndex(url, ":"):]
	get := func(path string) string {
		r := fixture.Must(http.NewRequest(http.MethodGet, "http://127.0.0.1"+port+path, nil))(t)
		r.Header.Set("Authorization", "Bearer "+token)
		answer := fixture.Must(http.DefaultClient.Do(r))(t)
		defer answer.Body.Close()
		body := fixture.Must(io.ReadAll(answer.Body))(t)
		return string(body)
	}
	list := get("/discovery")
	var groups []struct{ Labels map[string]string }
	if err := json.Unmarshal([]byte(list), &groups); err != nil || len(groups) > 1 {
		t.Fatalf("%s: %v", list, err)
	}
	for _, g := range groups {
		p, err := profile.ParseData([]byte(get("/debug/pprof/wall?seconds=1&pid=" + g.Labels["pid"])))
		if err != nil {
			continue
		}
		return p.String(), warned.String()
	}
	return "", warned.String()
}
