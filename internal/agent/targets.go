package agent

import (
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampler"
)

// fresh is how long a list of the processes is used.
const fresh = 5 * time.Second

// maxTargets limits the processes that are served.
const maxTargets = 1000

// An answer waits this long for a new list. The file system of
// an executable may take longer. What is asked of a process
// whose id another one has now can't be answered from the old
// list, and waits longer.
const (
	maxWait   = time.Second / 4
	reuseWait = 5 * time.Second
)

// processes finds the processes that are served.
type processes struct {
	match func(*sampler.Process) bool

	mu    sync.Mutex
	list  []*sampler.Process
	until time.Time
	found chan struct{} // closed when a new list is there; nil if nobody makes one
}

// all returns them, as of a moment ago. It waits for a new list
// at most for a given time, unless there is none.
func (ps *processes) all(wait time.Duration) []*sampler.Process {
	ps.mu.Lock()
	if !time.Now().Before(ps.until) && ps.found == nil {
		ps.found = make(chan struct{})
		go ps.renew(ps.found)
	}
	found := ps.found
	var late <-chan time.Time // never, for the first list
	if !ps.until.IsZero() {
		late = time.After(wait)
	}
	ps.mu.Unlock()
	if found != nil {
		select {
		case <-found:
		case <-late:
		}
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.list
}

// renew makes a new list, once for all who ask.
func (ps *processes) renew(found chan struct{}) {
	var list []*sampler.Process
	for _, p := range sampler.Running() {
		if ps.match(p) && len(list) < maxTargets {
			list = append(list, p)
		}
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.list, ps.until, ps.found = list, time.Now().Add(fresh), nil
	close(found)
}

// find returns the process of a pid, or nil. It finds all anew
// if the pid is another program's now.
func (ps *processes) find(pid int) *sampler.Process {
	for _, wait := range []time.Duration{maxWait, reuseWait} {
		all := ps.all(wait)
		at := slices.IndexFunc(all, func(p *sampler.Process) bool { return p.PID == pid })
		if at < 0 {
			return nil
		}
		if all[at].Identity() == sampler.IdentityOf(pid) {
			return all[at]
		}
		ps.mu.Lock()
		ps.until = time.Now()
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
	list, err := s.allowed(r, s.processes.all(maxWait))
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
	writeJSON(w, groups)
}
