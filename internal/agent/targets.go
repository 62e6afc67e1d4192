package agent

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
)

// fresh is how long a list of the processes is used.
const fresh = 5 * time.Second

// maxTargets limits the processes that are served.
const maxTargets = 1000

// processes finds the processes that are served.
type processes struct {
	match func(*sampler.Process) bool

	mu    sync.Mutex // held while they are found, so that they are found once for all who ask
	list  []*sampler.Process
	until time.Time
}

// all returns them, as of a moment ago.
func (ps *processes) all() []*sampler.Process {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if time.Now().Before(ps.until) {
		return ps.list
	}
	ps.list = nil
	for _, p := range sampler.Running() {
		if ps.match(p) && len(ps.list) < maxTargets {
			ps.list = append(ps.list, p)
		}
	}
	ps.until = time.Now().Add(fresh)
	return ps.list
}

// find returns the process of a pid, or nil. It finds all anew if the pid is
// another program's now.
func (ps *processes) find(pid int) *sampler.Process {
	for range 2 {
		all := ps.all()
		at := slices.IndexFunc(all, func(p *sampler.Process) bool { return p.PID == pid })
		if at < 0 {
			return nil
		}
		if all[at].Identity() == sampler.IdentityOf(pid) {
			return all[at]
		}
		ps.mu.Lock()
		ps.until = time.Time{}
		ps.mu.Unlock()
	}
	return nil
}

// A targetGroup is an element of the list that Prometheus' http_sd_configs read.
type targetGroup struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// serveTargets answers with the processes as targets, each at this server.
func (s *Server) serveTargets(w http.ResponseWriter, r *http.Request) {
	list, err := s.allowed(r, s.processes.all())
	if err != nil {
		refuse(w, err, http.StatusForbidden)
		return
	}
	groups := []targetGroup{}
	for _, p := range list {
		pid, path := strconv.Itoa(p.PID), strings.ToValidUTF8(p.Name, "�")
		labels := map[string]string{
			"__param_pid": pid, "pid": pid, "service_name": filepath.Base(path),
			"__meta_cpprof_executable": path,
		}
		if s.o.TLS != nil {
			labels["__scheme__"] = "https"
		}
		groups = append(groups, targetGroup{[]string{r.Host}, labels})
	}
	text, err := json.Marshal(groups)
	if err != nil {
		refuse(w, err, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(termtext.JSON(text), '\n'))
}
