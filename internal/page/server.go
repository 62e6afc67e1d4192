package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/views"
)

// A Server shows a page to the browsers of this machine.
// Everybody who knows its URL, which has a token in it, may see
// the page.
//
// It answers on the loopback address only. It refuses requests
// for another host's name, which a foreign page could point
// here. It also refuses requests from pages of other origins.
type Server struct {
	URL string

	listener net.Listener
	token    string
	content  Content
	busy     chan struct{} // has room for the requests that are answered at a time

	mu    sync.Mutex // held while something is made, so that it is made once for all who wait
	shown *shown
}

// A Content is what a server shows.
type Content struct {
	Name string // of the recording's file
	// Page returns what to show. It is called again for a
	// recording that grows.
	Page   func() (*Page, error)
	Source bool // the page shows the source of functions
	// Pprof writes what is shown as a profile of pprof, for the
	// page's link; nil if there is none.
	Pprof func(io.Writer) error
}

// maxRequests limits the requests that are answered at a time.
const maxRequests = 16

// Listen opens a port for a page, on 127.0.0.1; port 0 is any free one.
func Listen(port int, c Content) (*Server, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err != nil {
		return nil, fmt.Errorf("opening a port for the page: %w", err)
	}
	s := &Server{listener: l, token: rand.Text(), content: c,
		busy: make(chan struct{}, maxRequests)}
	s.URL = fmt.Sprintf("http://%s/%s/", l.Addr(), s.token)
	return s, nil
}

// Serve answers requests until the context ends, and then closes the port.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 32 << 10,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("showing the page: %w", err)
	}
	return nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if why := s.refuses(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this server only shows", http.StatusMethodNotAllowed)
		return
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		return
	}
	s.answer(w, r)
}

// refuses returns why a request is not answered; "" if it is.
func (s *Server) refuses(r *http.Request) string {
	if client, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && !client.Addr().IsLoopback() {
		return "only this machine may see the page"
	}
	if !s.isHost(r.Host) {
		return "the request is for another host: use the URL that cpprof printed"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !s.isHost(u.Host) {
			return "the request is from a page of another origin"
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" &&
		r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return "the request is from a page of another site"
	}
	token, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return "the token is missing or wrong: use the URL that cpprof printed"
	}
	return ""
}

// isHost reports whether a host is this server.
func (s *Server) isHost(host string) bool {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return host == "127.0.0.1:"+port || host == "localhost:"+port
}

// answer answers a request that may be answered.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	root := "/" + s.token
	switch path := strings.TrimPrefix(r.URL.Path, root); {
	case path == "":
		http.Redirect(w, r, root+"/", http.StatusMovedPermanently)
	case path == "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, shell(s.content.Name, "data", s.content.Source, s.content.Pprof != nil)+static().after)
	case path == "/data":
		s.sendData(w, r)
	case path == "/source" && !s.content.Source:
		http.NotFound(w, r)
	case answers[strings.TrimPrefix(path, "/")] != nil:
		s.send(w, r, answers[strings.TrimPrefix(path, "/")])
	case path == "/pprof" && s.content.Pprof != nil:
		s.sendPprof(w)
	default:
		http.NotFound(w, r)
	}
}

// answers are what a page asks about the recording, by path. The
// results are sent as JSON.
var answers = map[string]func(*shown, *question) (any, error){
	"source": (*shown).source, "proposals": (*shown).proposals, "latency": (*shown).latency,
	"area": (*shown).area, "contrast": (*shown).contrast, "call": (*shown).call,
	"tracks": (*shown).tracks, "moment": (*shown).moment,
}

// A question is what a page asks, with the first mistake in it.
// The answer need not look at the mistake, which goes before its
// own error.
type question struct {
	url.Values
	err error
}

// number reads a whole number. If it is wrong, it is the least.
func (q *question) number(name string, least, most int) int {
	return int(q.whole(name, int64(least), int64(most)))
}

func (q *question) whole(name string, least, most int64) int64 {
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil || n < least || n > most {
		q.err = cmp.Or(q.err, error(badRequest{fmt.Errorf("%s %q: want a whole number from %d to %d", name, q.Get(name), least, most)}))
		return least
	}
	return n
}

// span reads the time between from and to, in nanoseconds since
// the start; 0 if it is not given.
func (q *question) span() (span views.Span) {
	for name, end := range map[string]*time.Duration{"from": &span.From, "to": &span.To} {
		if q.Get(name) != "" {
			*end = time.Duration(q.whole(name, 0, math.MaxInt64))
		}
	}
	return span
}

// A badRequest is an error of a request, not of the recording.
type badRequest struct{ error }

func (s *Server) fail(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	if bad := (badRequest{}); errors.As(err, &bad) {
		status = http.StatusBadRequest
	}
	http.Error(w, err.Error(), status)
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, answer func(*shown, *question) (any, error)) {
	sh, err := s.latest()
	if err != nil {
		s.fail(w, err)
		return
	}
	result, err := ask(answer, sh, r.URL.Query())
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result)
}

// ask returns the answer to a question, or the first mistake in it.
func ask(answer func(*shown, *question) (any, error), s *shown, values url.Values) (any, error) {
	q := &question{Values: values}
	result, err := answer(s, q)
	return result, cmp.Or(q.err, err)
}

func (s *Server) sendData(w http.ResponseWriter, r *http.Request) {
	sh, err := s.latest()
	var made packed
	if err == nil {
		made, err = sh.data(r.URL.Query().Get("calls"))
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("ETag", made.mark)
	if r.Header.Get("If-None-Match") == made.mark {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(made.data)
}

func (s *Server) sendPprof(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var made bytes.Buffer
	if err := s.content.Pprof(&made); err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": filepath.Base(s.content.Name) + ".pb.gz"}))
	_, _ = w.Write(made.Bytes())
}

// Prepare makes the data of the page, so that an error is known
// before a browser asks.
func (s *Server) Prepare() error {
	sh, err := s.latest()
	if err == nil {
		_, err = sh.data("")
	}
	return err
}

// latest returns what is shown, which may be a moment old.
func (s *Server) latest() (*shown, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown != nil && time.Now().Before(s.shown.fresh()) {
		return s.shown, nil
	}
	p, err := s.content.Page()
	if err != nil {
		return nil, err
	}
	if s.shown == nil || s.shown.page != p {
		s.shown = newShown(p)
	}
	return s.shown, nil
}
