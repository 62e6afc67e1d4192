package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Bounds of reading an endpoint.
const (
	endpointEvery   = time.Second
	answerEvery     = 200 * time.Millisecond // how soon samples have the values of an answer
	endpointTimeout = 2 * time.Second
	maxAnswer       = 4 << 20 // bytes
	maxNumbers      = 2000    // monitors of one endpoint
	maxName         = 500     // bytes of a number's name
)

// isEndpoint reports whether a request is the address of an endpoint.
func isEndpoint(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// endpoint returns a source of the numbers that a program
// publishes at an address, in the text format of Prometheus or
// as JSON (package expvar).
func endpoint(url string, required bool) Source {
	return Source{
		Required: required,
		Every:    answerEvery, // to go through two thousand numbers takes a while
		Monitors: []sampledata.Monitor{{
			Name: url, Layer: sampledata.Application, Kind: sampledata.Level, Source: url,
			Resolution: endpointEvery.String(),
		}},
		Open: func(Target) (Reader, error) {
			r := &endpointReader{url: url, index: map[string]int{}, over: make(chan struct{})}
			r.client = &http.Client{Timeout: endpointTimeout}
			r.monitors = []sampledata.Monitor{{
				Name: url, Layer: sampledata.Application, Kind: sampledata.Level, Unit: "ns",
				Source:     url + ": age of the answer that the sample's values are from",
				Resolution: answerEvery.String(),
			}}
			ctx, cancel := context.WithCancel(context.Background())
			r.cancel = cancel
			if err := r.scrape(ctx); err != nil {
				cancel()
				return nil, fmt.Errorf("%s: %w", url, err)
			}
			go r.keepScraping(ctx)
			return r, nil
		},
	}
}

// A number is one number that an endpoint publishes.
type number struct {
	sampledata.Monitor
	value float64
}

// An endpointReader asks an endpoint in the background. Samples
// don't wait for it: they have the values of the latest answer.
type endpointReader struct {
	url    string
	client *http.Client
	cancel context.CancelFunc
	over   chan struct{} // closed when the background has ended

	mu       sync.Mutex
	monitors []sampledata.Monitor // the first is the age of the answer
	index    map[string]int       // of a monitor, by name
	values   []sampledata.Value   // of the monitors after the first
	answered time.Time
	failed   error // why the latest attempt failed; nil once it was reported
	missing  bool  // whether it failed
	left     int   // how many numbers were left out at most
	leftNow  error // says so; nil once it was reported
}

func (r *endpointReader) Monitors() []sampledata.Monitor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.monitors[:len(r.monitors):len(r.monitors)]
}

func (r *endpointReader) Read(values []sampledata.Value) ([]sampledata.Value, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.failed; err != nil {
		r.failed = nil
		return values, fmt.Errorf("read %s: %w", r.url, err)
	}
	if r.missing {
		return append(values, make([]sampledata.Value, len(r.monitors))...), nil
	}
	values = append(values, sampledata.Number(int64(time.Since(r.answered))))
	left := r.leftNow
	r.leftNow = nil
	return append(values, r.values...), left
}

func (r *endpointReader) Close() error {
	r.cancel()
	<-r.over
	return nil
}

func (r *endpointReader) keepScraping(ctx context.Context) {
	defer close(r.over)
	ticks := time.Tick(endpointEvery)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if err := r.scrape(ctx); err != nil && ctx.Err() == nil {
			r.mu.Lock()
			r.failed, r.missing = err, true
			r.mu.Unlock()
		}
	}
}

// scrape asks the endpoint once.
func (r *endpointReader) scrape(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4, application/json;q=0.5")
	answer, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer is %s", answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
	}
	at := time.Now()
	numbers, err := parseAnswer(body)
	if err != nil {
		return err
	}
	return r.keep(numbers, at)
}

var errNoNumbers = errors.New("the answer has no numbers: want the text format of Prometheus, or a JSON object as of package expvar")

// parseAnswer reads what an endpoint publishes.
func parseAnswer(body []byte) (numbers []number, err error) {
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '{' {
		numbers, err = parseExpvar(trimmed)
	} else {
		numbers, err = parsePrometheus(body)
	}
	if err == nil && len(numbers) == 0 {
		err = errNoNumbers
	}
	return numbers, err
}

// keep takes over the numbers of an answer. The numbers of an
// earlier one that are not in it are not measured.
func (r *endpointReader) keep(numbers []number, at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.values)
	r.answered, r.missing = at, false
	left := 0
	for _, n := range numbers {
		i, known := r.index[n.Name]
		if len(n.Name) > maxName || !known && len(r.values) == maxNumbers {
			left++
			continue
		}
		if !known {
			i = len(r.values)
			r.index[n.Name] = i
			n.Source, n.Resolution, n.Real = r.url, endpointEvery.String(), true
			r.monitors = append(r.monitors, n.Monitor)
			r.values = append(r.values, sampledata.Value{})
		}
		r.values[i] = sampledata.Real(n.value)
	}
	if left > r.left {
		r.left = left
		r.leftNow = &partError{fmt.Errorf(
			"read %s: %d numbers are left out: there are more than %d, or their names are too long",
			r.url, left, maxNumbers)}
	}
	return nil
}
