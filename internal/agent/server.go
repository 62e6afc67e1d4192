// Package agent serves profiles of the Go programs of a host to
// what a fleet has already: Alloy, Parca and others, which fetch
// profiles by HTTP as they do from net/http/pprof.
//
//	server.go       what is served, to whom
//	asker.go        which processes a client without a token may ask for
//	connections.go  which connections give way to others
//	windows.go      which recordings are made, and when: the budgets
//	profiles.go     the profiles of a recording
//	keepers.go      the last seconds of all processes, and who gets them
//	store.go        the folder with what was kept of them
//	pushes.go       profiles that are sent to who does not ask
//	leaks.go        the one of goroutines that are stuck for good
//	targets.go      which processes there are, and the list of them in Prometheus' form
//	metrics.go      the figures about the agent itself
//
// The package does not know how a process is recorded: the
// caller gives it functions.
package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
)

// Bounds of what is served at a time.
const (
	maxRequests = 64
	writeTime   = 30 * time.Second // for an answer
	refusalTime = time.Second      // for the rest of a request that was refused
)

// Options configure a Server.
type Options struct {
	Window time.Duration // the longest recording of a process
	Every  time.Duration // the time in which there is one such recording of each process
	AtOnce int           // how many processes are recorded at a time
	MaxCPU float64       // the processor time of these recordings, in cores; 0: no bound

	Token string      // that clients must send; "" for none
	TLS   *tls.Config // nil for HTTP

	// Match reports whether a process is served.
	Match func(*sampler.Process) bool

	// Record makes profiles of a process until the time is over
	// or the context ends. stuck is how many goroutines are
	// stuck for good. The error is ErrChanged if the process id
	// is another program's now.
	Record func(ctx context.Context, p *sampler.Process,
		lasts time.Duration) (made Profiles, stuck int, err error)

	Keeping *Keeping // nil: no last seconds are kept
	Pushing *Pushing // nil: nothing is pushed
}

// used returns the processor time of the agent and of all that
// it started, and which part of it counts for MaxCPU.
func (o *Options) used() (all, counted time.Duration) {
	all = sampler.FamilyProcessorTime()
	if o.Keeping == nil {
		return all, all
	}
	alive, ended := o.Keeping.Used()
	return all + alive, all - ended
}

// guarded reports whether only those are served who prove who they are.
func (o *Options) guarded() bool {
	return o.Token != "" || o.TLS != nil && o.TLS.ClientAuth == tls.RequireAndVerifyClientCert
}

// A Server serves the processes of this host.
type Server struct {
	o         Options
	listener  net.Listener
	processes processes
	windows   *windows
	keepers   *keepers // nil: nothing is kept
	metrics   *metrics
	clients   connections
	busy      chan struct{} // has room for the requests that are answered at a time
}

// Listen opens a port, or a socket at "unix:PATH". If other
// hosts can reach it, there must be a token, or certificates of
// clients.
func Listen(address string, o Options) (*Server, error) {
	if err := checkFiles(&o); err != nil {
		return nil, err
	}
	l, err := listen(address, &o)
	if err != nil {
		return nil, fmt.Errorf("listening at %s: %w", address, err)
	}
	s := &Server{o: o, listener: l, clients: connections{all: map[net.Conn]*connection{}},
		busy: make(chan struct{}, maxRequests)}
	s.processes.match = o.Match
	if o.Keeping != nil {
		s.keepers = &keepers{Keeping: o.Keeping, processes: &s.processes,
			all: map[sampler.Identity]*keeper{}}
	}
	return s, nil
}

func listen(address string, o *Options) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return listenSocket(path)
	}
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !at.IP.IsLoopback() && !o.guarded() {
		return nil, errors.New("other hosts can reach this address, and stacks of programs are not for everybody: " +
			"give --token-file or --client-ca, or listen at 127.0.0.1")
	}
	return net.ListenTCP("tcp", at)
}

// listenSocket listens at a path. It replaces the socket of an
// agent that was killed. All users may connect: what they get
// depends on who they are.
func listenSocket(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && isDead(path) {
		if err = os.Remove(path); err == nil {
			l, err = net.Listen("unix", path)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// isDead reports whether a path is a socket at which nobody listens.
func isDead(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// Address returns where the server listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// IsSocket reports whether the address is a path.
func (s *Server) IsSocket() bool { return s.listener.Addr().Network() == "unix" }

// URL returns the address as a URL. Clients of a socket need its
// path, too.
func (s *Server) URL() string {
	scheme, host := "http://", s.Address()
	if s.o.TLS != nil {
		scheme = "https://"
	}
	if s.IsSocket() {
		host = "localhost"
	}
	return scheme + host
}

// Ask keeps the last seconds of all processes now, for a reason.
func (s *Server) Ask(reason string) { s.keepers.ask(reason) }

// Serve answers requests until the context ends. Then it ends
// all recordings, and closes the port.
func (s *Server) Serve(ctx context.Context) error {
	s.metrics = newMetrics(s)
	s.windows = newWindows(ctx, &s.o, s.metrics.recorded)
	if s.keepers != nil {
		s.windows.ended.Go(func() { s.keepers.run(ctx) })
	}
	if s.o.Pushing != nil {
		pushes := &pushes{Pushing: s.o.Pushing, s: s, due: map[sampler.Identity]time.Time{}}
		s.windows.ended.Go(func() { pushes.run(ctx) })
	}
	server := &http.Server{
		// There is no ReadTimeout: it would end the context of a
		// request that waits for its recording.
		Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10, TLSConfig: s.o.TLS,
		ErrorLog:    log.New(io.Discard, "", 0), // of clients' mistakes, which anybody could fill
		ConnContext: withClient, ConnState: s.clients.changed,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	serve := server.Serve
	if s.o.TLS != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	s.windows.ended.Wait()
	if s.keepers != nil {
		s.keepers.Store.Close()
	}
	return nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, kind := range Kinds {
		mux.HandleFunc("GET /debug/pprof/"+string(kind),
			func(w http.ResponseWriter, r *http.Request) { s.serveProfile(w, r, kind) })
	}
	mux.HandleFunc("GET /discovery", s.serveTargets)
	mux.Handle("GET /metrics", s.metrics.handler())
	if s.keepers != nil {
		mux.HandleFunc("GET /kept", s.serveKept)
		mux.HandleFunc("GET /kept/{name}", s.serveRecording)
		mux.HandleFunc("POST /keep", s.serveAsk)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		s.admit(mux, counted, r)
		s.metrics.answered(mux, r, counted.status)
	})
}

// A statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// admit answers a request if it may be answered, and if there
// are not too many.
func (s *Server) admit(mux http.Handler, w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	allowAnswer(w)
	if status, why := s.refuses(r); why != "" {
		if status == http.StatusUnauthorized {
			h.Set("WWW-Authenticate", "Bearer")
		}
		h.Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusalTime))
		http.Error(w, why, status)
		return
	}
	s.clients.admit(clientOf(r).conn)
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		retryAfter(w, time.Second)
		http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		return
	}
	mux.ServeHTTP(w, r)
}

// allowAnswer begins the time in which a client has to take its answer.
func allowAnswer(w http.ResponseWriter) {
	// Without such a deadline, as in a test's recorder, nothing is bounded.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
}

// refuses returns why a request is not answered; "" if it is.
func (s *Server) refuses(r *http.Request) (status int, why string) {
	if s.o.Token != "" {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		// Of equal lengths, so that the time says nothing of the token.
		got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.o.Token))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return http.StatusUnauthorized,
				"want the token of the agent's --token-file, as 'Authorization: Bearer TOKEN'"
		}
	}
	// A page in a browser of this host could ask, too, under a
	// name that leads here. No page of a browser is the agent's
	// own.
	site := r.Header.Get("Sec-Fetch-Site")
	if !s.o.guarded() && !isLoopback(r.Host) || r.Header.Get("Origin") != "" ||
		site != "" && site != "none" {
		return http.StatusForbidden,
			"the request is for another host, or from a page in a browser: ask for " + s.URL()
	}
	return 0, ""
}

// isLoopback reports whether a Host header names this host itself.
func isLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && ip.IsLoopback()
}

// retryAfter says when to try again, in whole seconds.
func retryAfter(w http.ResponseWriter, after time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
}

// serveProfile answers with a profile of a process, after a
// recording of it.
func (s *Server) serveProfile(w http.ResponseWriter, r *http.Request, kind Kind) {
	query := r.URL.Query()
	lasts, err := s.lasting(query.Get("seconds"))
	if err != nil {
		refuse(w, err, http.StatusBadRequest)
		return
	}
	p := s.asked(w, r)
	if p == nil {
		return
	}
	// The recording may take longer than its time: it first
	// attaches to the process. The client's leaving is noticed
	// all the same.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	data, err := s.windows.profile(r.Context(), p, kind, lasts)
	allowAnswer(w)
	var busy *BusyError
	switch {
	case errors.As(err, &busy):
		retryAfter(w, busy.After)
		status := http.StatusTooManyRequests
		if busy.Host {
			status = http.StatusServiceUnavailable
		}
		refuse(w, err, status)
	case errors.Is(err, ErrChanged):
		refuse(w, fmt.Errorf("pid %d: %w: /discovery lists what runs now", p.PID, err),
			http.StatusNotFound)
	case r.Context().Err() != nil:
		w.WriteHeader(499) // nobody reads it: it is for the metrics
	case err != nil:
		refuse(w, err, http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition",
			fmt.Sprintf(`attachment; filename="%s-%d.pb.gz"`, kind, p.PID))
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data)
	}
}

// asked returns the process that a client asks for, and may ask
// for. If there is none, it answers, and returns nil.
func (s *Server) asked(w http.ResponseWriter, r *http.Request) *sampler.Process {
	pid, err := strconv.Atoi(r.URL.Query().Get("pid"))
	if err != nil {
		http.Error(w, fmt.Sprintf("pid %q: want the number of a process: /discovery lists them",
			r.URL.Query().Get("pid")), http.StatusBadRequest)
		return nil
	}
	p := s.processes.find(pid)
	if p == nil {
		http.Error(w, fmt.Sprintf("pid %d: no such Go program, or not one that is served: /discovery lists them", pid), http.StatusNotFound)
		return nil
	}
	if may, err := s.allowed(r, []*sampler.Process{p}); err != nil || len(may) == 0 {
		refuse(w, cmp.Or(err, fmt.Errorf("pid %d: you may not trace this program, so its stacks are not for you: "+
			"ask as its user, or give the agent --token-file", pid)), http.StatusForbidden)
		return nil
	}
	return p
}

// refuse answers with an error. It can name a program, and who
// reads it may sit at a terminal.
func refuse(w http.ResponseWriter, err error, status int) {
	http.Error(w, termtext.Error(err), status)
}

// lasting returns how long to record, of the parameter
// "seconds". A client that asks for more than a window gets a
// window.
func (s *Server) lasting(text string) (time.Duration, error) {
	if text == "" {
		return s.o.Window, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0.1) {
		return 0, fmt.Errorf("seconds %q: want a number of seconds, such as 10", text)
	}
	if seconds >= s.o.Window.Seconds() {
		return s.o.Window, nil
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
