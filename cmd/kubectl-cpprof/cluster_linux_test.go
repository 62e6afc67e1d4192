package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/websocket"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A cluster is an API server with one pod. The real kubectl
// talks to it. Its node runs containers as processes in
// namespaces (box_linux_test.go).
type cluster struct {
	t      *testing.T
	server *httptest.Server

	mu      sync.Mutex
	pod     object
	refuse  map[string]object // by method and path: the status to answer with
	waiting object            // why added containers don't start; nil: they do
	target  int               // the process that their processes share; 0: there is none
	root    string            // the root of cpprof's image
	held    map[string]*exec.Cmd

	executed func() // is called before a program runs in an added container
}

type object = map[string]any
type list = []any

const podPath = "/api/v1/namespaces/shop/pods/api-0"

// newCluster starts a server, and makes kubectl use it.
func newCluster(t *testing.T, containers ...string) *cluster {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("this test asks a fake cluster with the real kubectl: %v", err)
	}
	var specs, states list
	for _, name := range containers {
		specs = append(specs, object{"name": name, "image": "shop/" + name})
		states = append(states, object{"name": name, "image": "shop/" + name, "imageID": "", "ready": true,
			"restartCount": 0, "state": object{"running": object{"startedAt": "2026-01-02T03:04:05Z"}}})
	}
	c := &cluster{t: t, refuse: map[string]object{}, held: map[string]*exec.Cmd{}}
	c.pod = object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": "api-0", "namespace": "shop", "uid": "7", "resourceVersion": "1"},
		"spec":     object{"containers": specs, "nodeName": "node"},
		"status":   object{"phase": "Running", "containerStatuses": states},
	}
	c.server = httptest.NewServer(c)
	t.Cleanup(c.server.Close)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: fake, cluster: {server: %q}}]
contexts: [{name: fake, context: {cluster: fake, user: dev, namespace: shop}}]
current-context: fake
users: [{name: dev, user: {token: t}}]
`, c.server.URL)
	fixture.Check(t, os.WriteFile(config, []byte(text), 0o600))
	t.Setenv("KUBECONFIG", config)
	t.Setenv("KUBECACHEDIR", t.TempDir()) // what kubectl learns of the cluster
	return c
}

// discovery is what kubectl asks of any cluster.
var discovery = map[string]object{
	"/version":                {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
	"/api":                    {"kind": "APIVersions", "versions": list{"v1"}},
	"/apis":                   {"kind": "APIGroupList", "apiVersion": "v1", "groups": list{}},
	"/api/v1/namespaces/shop": {"kind": "Namespace", "apiVersion": "v1", "metadata": object{"name": "shop"}},
	"/api/v1": {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": list{
		object{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod",
			"verbs": list{"get", "list", "watch"}, "shortNames": list{"po"}},
		object{"name": "pods/ephemeralcontainers", "namespaced": true, "kind": "Pod", "verbs": list{"get", "patch", "update"}},
		object{"name": "pods/exec", "namespaced": true, "kind": "PodExecOptions", "verbs": list{"create", "get"}},
	}},
}

// failure is the status of a request that failed.
func failure(code int, reason, message string, details object) object {
	return object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Failure",
		"code": code, "reason": reason, "message": message, "details": details}
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if answer, ok := discovery[r.URL.Path]; ok {
		reply(w, http.StatusOK, answer)
		return
	}
	c.mu.Lock()
	refused, ok := c.refuse[r.Method+" "+r.URL.Path]
	c.mu.Unlock()
	if ok {
		reply(w, refused["code"].(int), refused)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET " + podPath:
		reply(w, http.StatusOK, c.look())
	case "PATCH " + podPath + "/ephemeralcontainers":
		c.patch(w, r)
	case "GET " + podPath + "/exec":
		c.exec(w, r)
	default:
		name := filepath.Base(r.URL.Path)
		reply(w, http.StatusNotFound, failure(http.StatusNotFound, "NotFound",
			fmt.Sprintf("pods %q not found", name), object{"name": name, "kind": "pods"}))
	}
}

func reply(w http.ResponseWriter, code int, answer object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

// look returns the pod.
func (c *cluster) look() object {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, err := json.Marshal(c.pod)
	if err != nil {
		c.t.Error(err)
	}
	var copied object
	if err := json.Unmarshal(text, &copied); err != nil {
		c.t.Error(err)
	}
	return copied
}

// added returns the containers that were added.
func (c *cluster) added() list {
	a, _ := c.pod["spec"].(object)["ephemeralContainers"].(list)
	return a
}

// patch adds a container, as the server does with a strategic merge patch.
func (c *cluster) patch(w http.ResponseWriter, r *http.Request) {
	var patch struct {
		Spec struct{ EphemeralContainers list }
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/strategic-merge-patch+json" {
		c.t.Errorf("a patch of type %s", kind)
	}
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
		c.t.Errorf("a patch that can't be read: %v", err)
	}
	c.mu.Lock()
	c.pod["spec"].(object)["ephemeralContainers"] = append(c.added(), patch.Spec.EphemeralContainers...)
	for _, one := range patch.Spec.EphemeralContainers {
		c.start(one.(object))
	}
	c.mu.Unlock()
	reply(w, http.StatusOK, c.look())
}

// start is the node's part. The container is first created, then
// runs, and ends when its program does.
func (c *cluster) start(container object) {
	name := container["name"].(string)
	if c.waiting != nil {
		c.state(name, object{"waiting": c.waiting})
		return
	}
	c.state(name, object{"waiting": object{"reason": "ContainerCreating"}})
	if c.target == 0 {
		return
	}
	cmd := c.box(container).command(texts(container["command"]))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return
	}
	c.held[name] = cmd
	go func() {
		c.mu.Lock()
		c.state(name, object{"running": object{"startedAt": "2026-01-02T03:04:05Z"}})
		c.mu.Unlock()
		_ = cmd.Wait()
		c.mu.Lock()
		c.state(name, object{"terminated": object{"exitCode": cmd.ProcessState.ExitCode(), "reason": "Completed"}})
		c.mu.Unlock()
	}()
}

// state sets the state of an added container.
func (c *cluster) state(name string, s object) {
	status := c.pod["status"].(object)
	states, _ := status["ephemeralContainerStatuses"].(list)
	states = slices.DeleteFunc(states, func(one any) bool { return one.(object)["name"] == name })
	status["ephemeralContainerStatuses"] = append(states, object{"name": name, "state": s,
		"image": "", "imageID": "", "ready": false, "restartCount": 0})
}

// container returns an added container.
func (c *cluster) container(name string) object {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.added() {
		if one.(object)["name"] == name {
			return one.(object)
		}
	}
	return nil
}

// texts returns the strings in a list.
func texts(of any) (all []string) {
	l, _ := of.(list)
	for _, one := range l {
		all = append(all, one.(string))
	}
	return all
}

// Channels of the protocol v5.channel.k8s.io. The first byte of
// a message is its channel.
const (
	channelIn    = 0
	channelOut   = 1
	channelErr   = 2
	channelEnd   = 3
	channelClose = 255
)

// exec runs a program in an added container.
func (c *cluster) exec(w http.ResponseWriter, r *http.Request) {
	ask := r.URL.Query()
	container := c.container(ask.Get("container"))
	if container == nil {
		reply(w, http.StatusBadRequest, failure(http.StatusBadRequest, "BadRequest", "no such container", nil))
		return
	}
	if c.executed != nil {
		c.executed()
	}
	const protocol = "v5.channel.k8s.io"
	websocket.Server{
		Handshake: func(config *websocket.Config, _ *http.Request) error {
			if !slices.Contains(config.Protocol, protocol) {
				return fmt.Errorf("protocols %q", config.Protocol)
			}
			config.Protocol = []string{protocol}
			return nil
		},
		Handler: func(conn *websocket.Conn) {
			conn.PayloadType = websocket.BinaryFrame
			c.run(conn, c.box(container).command(ask["command"]))
		},
	}.ServeHTTP(w, r)
}

// run connects a program with a client.
func (c *cluster) run(conn *websocket.Conn, cmd *exec.Cmd) {
	var mu sync.Mutex
	cmd.Stdout, cmd.Stderr = &channel{conn, &mu, channelOut}, &channel{conn, &mu, channelErr}
	in, err := cmd.StdinPipe()
	if err != nil {
		c.t.Error(err)
		return
	}
	go func() {
		defer in.Close()
		for {
			var message []byte
			if err := websocket.Message.Receive(conn, &message); err != nil || len(message) < 1 {
				return
			}
			switch {
			case message[0] == channelIn:
				_, _ = in.Write(message[1:])
			case message[0] == channelClose && len(message) > 1 && message[1] == channelIn:
				return
			}
		}
	}()
	status := object{"metadata": object{}, "status": "Success"}
	if err := cmd.Run(); err != nil {
		status = failure(http.StatusInternalServerError, "NonZeroExitCode", err.Error(), object{"causes": list{
			object{"reason": "ExitCode", "message": fmt.Sprint(cmd.ProcessState.ExitCode())}}})
	}
	text, _ := json.Marshal(status)
	_, _ = (&channel{conn, &mu, channelEnd}).Write(text)
	_ = conn.Close() // says so to the client
}

// A channel is one of the streams of a connection.
type channel struct {
	conn   *websocket.Conn
	mu     *sync.Mutex
	number byte
}

func (c *channel) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest := b; len(rest) > 0; {
		n := min(len(rest), 8<<10)
		if err := websocket.Message.Send(c.conn, append([]byte{c.number}, rest[:n]...)); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(b), nil
}

// lastAdded returns the description of the container that was added last.
func (c *cluster) lastAdded() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.added()
	if len(a) == 0 {
		return ""
	}
	var b strings.Builder
	_ = json.NewEncoder(&b).Encode(a[len(a)-1])
	return b.String()
}
