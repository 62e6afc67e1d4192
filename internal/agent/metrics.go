package agent

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the figures about the agent itself that Prometheus reads.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	windows  *prometheus.CounterVec
	lasted   prometheus.Counter
	pushes   *prometheus.CounterVec
}

func newMetrics(s *Server) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("cpprof_agent_requests_total",
			"Requests that were answered, by path and status; 499 if the client went away.",
			"path", "code"),
		windows: counter("cpprof_agent_recordings_total",
			"Recordings that ended: complete, failed, or abandoned by their clients.", "outcome"),
		lasted: counter("cpprof_agent_recorded_seconds_total",
			"How long processes were recorded.").WithLabelValues(),
		pushes: counter("cpprof_agent_pushes_total",
			"Profiles that were pushed (--otlp): complete, or failed.", "outcome"),
	}
	for _, outcome := range []string{"complete", "failed", "abandoned"} {
		m.windows.WithLabelValues(outcome)
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	m.registry.MustRegister(m.requests, m.windows, m.lasted, m.pushes,
		gauge("cpprof_agent_processes", "Go programs that are served.",
			func() float64 { return float64(len(s.processes.all(maxWait))) }),
		gauge("cpprof_agent_recordings", "Recordings that are being made.",
			func() float64 { return float64(s.windows.recording()) }),
		gauge("cpprof_agent_stuck_goroutines",
			"Goroutines that are stuck for good, in the latest recording of each process.",
			func() float64 { return float64(s.windows.stuck()) }),
		gauge("cpprof_agent_cpu_bound_cores",
			"The bound on the agent's processor time; 0 for none.",
			func() float64 {
				if s.keepers != nil && s.o.MaxCPU > 0 {
					return s.o.MaxCPU + s.keepers.MaxCPU
				}
				return s.o.MaxCPU
			}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "cpprof_agent_cpu_seconds_total",
			Help: "Processor time that the agent and its recordings have used."},
			func() float64 { all, _ := s.o.used(); return all.Seconds() }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func (m *metrics) recorded(outcome string, lasted time.Duration) {
	m.windows.WithLabelValues(outcome).Inc()
	m.lasted.Add(lasted.Seconds())
}

// answered counts an answer. Paths that are not served are
// counted together: anybody can think of more.
func (m *metrics) answered(mux *http.ServeMux, r *http.Request, status int) {
	path := "other"
	if _, pattern := mux.Handler(r); pattern != "" {
		_, path, _ = strings.Cut(pattern, " ")
	}
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Inc()
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
