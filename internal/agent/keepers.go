package agent

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
)

// An Order is for what keeps the last seconds of a process.
type Order struct {
	Programs int    // that are kept now: they share memory and processor time
	Ask      string // the reason to keep the last seconds now; "" for none
}

// Keeping says how the last seconds of all processes are kept.
type Keeping struct {
	Store  *Store
	Most   int     // processes
	MaxCPU float64 // the processor time of all, in cores; 0: no bound
	// Used returns the processor time that keeping has used: of
	// the processes that do it now, and of those that have
	// ended.
	Used func() (alive, ended time.Duration)
	// Keep keeps the last seconds of a process, until it or the
	// context ends. It calls kept for each recording that it has
	// written to a path of the store's, and at each error. The
	// result says why it ended otherwise.
	Keep func(ctx context.Context, p *sampler.Process, orders <-chan Order,
		kept func(path string, k Kept, err error)) error
	// Told is called for what a person at the agent wants to know.
	Told func(text string)
}

// retry is how long a process is left alone that could not be kept.
const retry = time.Minute

// keepers keep the last seconds of all processes.
type keepers struct {
	*Keeping
	processes *processes
	ended     sync.WaitGroup

	mu   sync.Mutex
	all  map[sampler.Identity]*keeper
	full bool // more processes than may be kept
}

// A keeper keeps the last seconds of one process.
type keeper struct {
	p      *sampler.Process
	owner  sampler.User
	began  time.Time
	orders chan Order
	again  time.Time // when to try again; zero while it goes on
	err    error     // why it ended

	waiting []chan<- Kept // who asked, and gets what is kept next
}

// run begins and ends keepers as processes come and go, until
// the context ends.
func (ks *keepers) run(ctx context.Context) {
	for {
		ks.renew(ctx)
		select {
		case <-ctx.Done():
			ks.ended.Wait()
			return
		case <-time.After(fresh):
		}
	}
}

func (ks *keepers) renew(ctx context.Context) {
	list := ks.processes.all(maxWait)
	ks.mu.Lock()
	defer ks.mu.Unlock()
	now, seen := time.Now(), map[sampler.Identity]bool{}
	for _, p := range list {
		id := p.Identity()
		seen[id] = true
		if k := ks.all[id]; k != nil && (k.again.IsZero() || now.Before(k.again)) {
			continue
		}
		if ks.number() >= ks.Most {
			if !ks.full {
				ks.Told(fmt.Sprintf("there are more programs than the %d that --max-memory allows to keep", ks.Most))
			}
			ks.full = true
			break
		}
		k := &keeper{p: p, owner: ownerOf(p), began: now, orders: make(chan Order, 8)}
		if old := ks.all[id]; old != nil {
			k.err = old.err
		}
		ks.all[id] = k
		ks.ended.Go(func() { ks.keep(ctx, k) })
	}
	for id, k := range ks.all {
		if !seen[id] && !k.again.IsZero() {
			delete(ks.all, id)
		}
	}
	ks.order("")
}

// number returns how many processes are kept.
func (ks *keepers) number() (n int) {
	for _, k := range ks.all {
		if k.again.IsZero() {
			n++
		}
	}
	return n
}

// order sends all keepers how many they are, and a reason to keep
// the last seconds now; "" for none.
func (ks *keepers) order(reason string) {
	for _, k := range ks.all {
		if k.again.IsZero() {
			k.order(Order{ks.number(), reason})
		}
	}
}

// order sends an order, and reports whether it could. One that
// only says how many there are comes again.
func (k *keeper) order(o Order) bool {
	select {
	case k.orders <- o:
		return true
	default:
		return false
	}
}

// answer sends what was kept to those who have asked, if anything was.
func (k *keeper) answer(kept ...Kept) {
	for _, w := range k.waiting {
		for _, one := range kept {
			w <- one
		}
		close(w)
	}
	k.waiting = nil
}

func (ks *keepers) keep(ctx context.Context, k *keeper) {
	err := ks.Keep(ctx, k.p, k.orders, func(path string, one Kept, err error) {
		one.Program, one.PID, one.UID, one.GID = k.p.Name, k.p.PID, k.owner.UID, k.owner.GID
		if err == nil {
			one, err = ks.Store.add(path, one)
		}
		what := fmt.Sprintf("%s (process %d): %s", filepath.Base(k.p.Name), k.p.PID, one.Reason)
		if err != nil {
			ks.Told(fmt.Sprintf("%s, but the last seconds can't be kept: %v", what, err))
		} else {
			ks.Told(fmt.Sprintf("%s: kept the last %.1f s in %s", what, one.Seconds,
				filepath.Join(ks.Store.dir, one.Name)))
		}
		ks.mu.Lock()
		defer ks.mu.Unlock()
		if err == nil {
			k.answer(one)
		}
		k.answer()
	})
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrChanged) {
		if k.err == nil || k.err.Error() != err.Error() {
			ks.Told(fmt.Sprintf("%s (process %d) is not kept: %v", filepath.Base(k.p.Name),
				k.p.PID, err))
		}
		k.err = err
	}
	k.again = time.Now().Add(retry)
	k.answer()
	ks.order("")
}

// ask keeps the last seconds of all processes now, for a reason.
func (ks *keepers) ask(reason string) {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	ks.order(reason)
}

// askOne keeps the last seconds of a process now. The result is
// closed without a value if that fails; nil if the process is
// not kept.
func (ks *keepers) askOne(p *sampler.Process, reason string) <-chan Kept {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	k := ks.all[p.Identity()]
	if k == nil || !k.again.IsZero() || !k.order(Order{ks.number(), reason}) {
		return nil
	}
	next := make(chan Kept, 1)
	k.waiting = append(k.waiting, next)
	return next
}

// A watched process is one whose last seconds are kept, or why
// they are not.
type watched struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
	Error   string    `json:"error,omitempty"`
}

// mayHave returns a function that reports whether a client may
// have what was kept of a program: its user could trace that.
func (s *Server) mayHave(r *http.Request) (func(sampler.User) bool, error) {
	u, err := s.asker(r)
	if err != nil {
		return nil, err
	}
	return func(owner sampler.User) bool { return u == nil || u.UID == 0 || *u == owner }, nil
}

// serveKept answers with the list of what was kept, and of what
// is watched.
func (s *Server) serveKept(w http.ResponseWriter, r *http.Request) {
	may, err := s.mayHave(r)
	if err != nil {
		refuse(w, err, http.StatusForbidden)
		return
	}
	answer := struct {
		Kept    []Kept    `json:"kept"`
		Watched []watched `json:"watched"`
	}{s.keepers.Store.all(func(k Kept) bool { return may(sampler.User{UID: k.UID, GID: k.GID}) }),
		[]watched{}}
	s.keepers.mu.Lock()
	for _, k := range s.keepers.all {
		if may(k.owner) {
			one := watched{PID: k.p.PID, Program: k.p.Name, Since: k.began}
			if k.err != nil {
				one.Error = k.err.Error()
			}
			answer.Watched = append(answer.Watched, one)
		}
	}
	s.keepers.mu.Unlock()
	writeJSON(w, answer)
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		refuse(w, err, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(termtext.JSON(text), '\n'))
}

// serveRecording answers with a recording, as a tar archive.
func (s *Server) serveRecording(w http.ResponseWriter, r *http.Request) {
	may, err := s.mayHave(r)
	if err != nil {
		refuse(w, err, http.StatusForbidden)
		return
	}
	name, isTar := strings.CutSuffix(r.PathValue("name"), ".tar")
	// A recording of another's program is as one that is not there.
	list := s.keepers.Store.all(func(k Kept) bool {
		return k.Name == name && may(sampler.User{UID: k.UID, GID: k.GID})
	})
	if !isTar || len(list) == 0 {
		http.Error(w, "no such recording, or not one for you: /kept lists them", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.tar"`, name))
	if err := writeTar(&patient{w}, filepath.Join(s.keepers.Store.dir, name), name); err != nil {
		panic(http.ErrAbortHandler) // the client sees that it is not whole
	}
}

// A patient writer gives the client time for each piece.
type patient struct{ http.ResponseWriter }

func (w *patient) Write(b []byte) (int, error) {
	allowAnswer(w.ResponseWriter)
	return w.ResponseWriter.Write(b)
}

// writeTar writes the files of a folder.
func writeTar(w io.Writer, dir, name string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, f := range list {
		if !f.Type().IsRegular() {
			continue
		}
		if err := files.Tar(t, name+"/"+f.Name(), filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return t.Close()
}

// serveAsk keeps the last seconds of a process, and answers with
// what was kept.
func (s *Server) serveAsk(w http.ResponseWriter, r *http.Request) {
	p := s.asked(w, r)
	if p == nil {
		return
	}
	next := s.keepers.askOne(p, "a client asked")
	if next == nil {
		retryAfter(w, fresh)
		http.Error(w, "pid "+strconv.Itoa(p.PID)+": its last seconds are not kept: /kept says why",
			http.StatusServiceUnavailable)
		return
	}
	select {
	case k, ok := <-next:
		if !ok {
			http.Error(w, "nothing could be kept: the agent says why", http.StatusInternalServerError)
			return
		}
		writeJSON(w, k)
	case <-r.Context().Done():
	case <-time.After(writeTime - refusalTime):
		http.Error(w, "it takes long: /kept lists it when it is there", http.StatusAccepted)
	}
}
