package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/agent"
	"github.com/cpprof/cpprof/internal/export"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

// agentFlags are the flags of agent.
type agentFlags struct {
	listen         string
	match          []string
	window, every  time.Duration
	atOnce         int
	tokenFile      string
	cert, key, own string // own is the file of the authority of the clients' certificates
	limit          time.Duration
	maxHalt        time.Duration
	kept           keepFlags
	folder         string // of what is kept
	otlp           bool   // push to the collector of collectorVar
	collector      *export.Pusher
	samplerFlags
}

// usualAddress is where the agent listens if the user says nothing else.
const usualAddress = "127.0.0.1:6061"

func newAgentCommand(t terminal) *cobra.Command {
	var f agentFlags
	c := &cobra.Command{
		Use:   "agent",
		Short: "Serve profiles of this host's Go programs to Alloy, Parca and others",
		Long: `agent finds the Go programs of this host that it may trace, and serves profiles of them by HTTP,
which collectors such as Alloy and Parca fetch like those of net/http/pprof:

  /debug/pprof/wall?pid=P&seconds=N          what all goroutines of process P did with their time
  /debug/pprof/mutexholders?pid=P&seconds=N  what held the locks for which goroutines waited
  /debug/pprof/goroutineleak?pid=P           the goroutines that can never run again
  /discovery                                 the processes, as Prometheus' http_sd_configs read them
  /metrics                                   what the agent itself does

With --keep 60s it keeps the last 60 s of each program, as 'record --keep' does. /kept lists what
was kept, /kept/NAME.tar is one of these, and POST /keep?pid=P keeps those of process P now.
With --otlp it sends profiles of all to $OTEL_EXPORTER_OTLP_ENDPOINT. Otherwise a process is
recorded only if a client asks, for at most 10 s (--max-duration) in each minute (--every).
--max-cpu is for all processes together. Beyond that the status is 429 or 503.

Only this host reaches the default address, and each of its users gets only the programs that this
user may trace. Who has the token of --token-file, or a certificate of --client-ca, gets all. An
address that other hosts reach needs one of these.`,
		Example: `  cpprof agent --match 'shop-*' --keep 60s --when 'goroutines.blocked > 100'
  cpprof agent --listen :6061 --token-file token --tls-cert cert.pem --tls-key key.pem`,
		Args:    usageArgs(cobra.NoArgs),
		PreRunE: usageArgs(f.check),
		RunE: func(c *cobra.Command, _ []string) error {
			if task := os.Getenv(agentTask); task != "" {
				return f.recordTask(c.Context(), t, task)
			}
			return f.run(c.Context(), t)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", usualAddress,
		"the `address` to listen at, with port 0 for any free one, or unix:PATH")
	flags.StringArrayVar(&f.match, "match", nil,
		"serve only the programs whose file name matches this `PATTERN` (may be repeated)")
	flags.DurationVar(&f.window, "max-duration", 10*time.Second,
		"the longest `duration` of a recording")
	flags.DurationVar(&f.every, "every", time.Minute,
		"the time in which a process is recorded for that long, and no longer")
	flags.IntVar(&f.atOnce, "at-once", 2, "the `number` of processes that are recorded at a time")
	f.kept.add(c)
	addOutput(c, &f.folder, "kept")
	addOTLP(c, &f.otlp)
	addTokenFile(c, &f.tokenFile)
	flags.StringVar(&f.cert, "tls-cert", "", "serve HTTPS, with the certificate in this `file`")
	flags.StringVar(&f.key, "tls-key", "", "the `file` with the key of that certificate")
	flags.StringVar(&f.own, "client-ca", "",
		"serve only clients with a certificate of the authority in this `file`")
	addDuration(c, &f.limit, 0)
	f.samplerFlags.add(c)
	addMaxHalt(c, &f.maxHalt)
	return c
}

func (f *agentFlags) check(c *cobra.Command, _ []string) error {
	for _, pattern := range f.match {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("--match %s: want a file name, or a pattern such as 'shop-*': %w",
				pattern, err)
		}
	}
	switch {
	case f.window < 100*time.Millisecond:
		return fmt.Errorf("--max-duration %v: want at least 100ms", f.window)
	case f.every < f.window:
		return fmt.Errorf("--every %v: want at least the duration of a recording, %v", f.every,
			f.window)
	case f.atOnce < 1:
		return fmt.Errorf("--at-once %d: want 1 or more", f.atOnce)
	case (f.cert == "") != (f.key == ""):
		return errors.New("--tls-cert and --tls-key: give both")
	case f.own != "" && f.cert == "":
		return errors.New("--client-ca: clients show certificates over HTTPS only: give --tls-cert and --tls-key, too")
	}
	if err := f.samplerFlags.check(c); err != nil {
		return err
	}
	if err := f.checkKept(c); err != nil {
		return err
	}
	if f.otlp {
		var err error
		if f.collector, err = pusher(); err != nil {
			return fmt.Errorf("--otlp: %w", err)
		}
	}
	return setMark(&f.options, f.maxHalt, f.backend, f.options.MaxCPU)
}

// matches reports whether one of the patterns matches the name
// of a file, or whether there is none.
func (f *agentFlags) matches(name string) bool {
	return len(f.match) == 0 || slices.ContainsFunc(f.match, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

func (f *agentFlags) run(ctx context.Context, t terminal) error {
	o := agent.Options{
		Window: f.window, Every: f.every, AtOnce: f.atOnce, MaxCPU: f.options.MaxCPU,
		Match: func(p *sampler.Process) bool {
			return f.matches(filepath.Base(p.Name)) && !helpers.has(p.PID)
		},
	}
	var err error
	if o.Token, err = readToken(t, f.tokenFile); err != nil {
		return err
	}
	if o.TLS, err = f.tls(); err != nil {
		return err
	}
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	ctx, cancel := within(ctx, f.limit)
	defer cancel()
	o.Record = func(ctx context.Context, p *sampler.Process,
		lasts time.Duration) (agent.Profiles, int, error) {
		return recordApart(ctx, t, p, lasts)
	}
	if f.kept.on() {
		if o.Keeping, err = f.keeping(t); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	if f.otlp {
		o.Pushing = &agent.Pushing{
			Send: func(ctx context.Context, profile []byte) error {
				return f.collector.Push(ctx, export.OTLPMessage(profile))
			},
			Told: func(text string) { tell(t.err, "%s", text) },
		}
	}
	server, err := agent.Listen(f.listen, o)
	if err != nil {
		return err
	}
	if lacks := sampler.RootLacks(); lacks != "" {
		termtext.Fprintf(t.err, "cpprof: without %s the agent serves no programs of other users: "+
			"a container needs --cap-add SYS_PTRACE,DAC_READ_SEARCH\n", lacks)
	}
	where := server.URL()
	if server.IsSocket() {
		where = "curl --unix-socket " + server.Address() + " " + where
	}
	termtext.Fprintf(t.out, "%s/discovery lists the programs. Ctrl-C ends the agent.\n", where)
	if f.otlp {
		termtext.Fprintf(t.out, "Profiles of them are pushed: %v in each %v.\n", f.window, f.every)
	}
	if f.kept.on() {
		termtext.Fprintf(t.out, "%s/kept lists what is kept of their last %v, in %s.\n", where, f.kept.span,
			f.folder)
		defer f.kept.watch(server.Ask)()
	}
	return server.Serve(ctx)
}

// collectorVar names the environment's variable that OpenTelemetry's exporters
// take the URL of a collector from.
const collectorVar = "OTEL_EXPORTER_OTLP_ENDPOINT"

// pusher returns what sends profiles to the collector of the environment.
func pusher() (*export.Pusher, error) {
	url := cmp.Or(os.Getenv(collectorVar), "http://localhost:4318")
	p := &export.Pusher{URL: url, Tries: pushTries, Pause: time.Second}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("$%s: %w", collectorVar, err)
	}
	var err error
	p.Header, err = collectorHeaders()
	return p, err
}

// tls returns what the flags say of HTTPS; nil for HTTP.
func (f *agentFlags) tls() (*tls.Config, error) {
	if f.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", f.cert, f.key, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if f.own == "" {
		return c, nil
	}
	text, err := os.ReadFile(f.own)
	if err != nil {
		return nil, fmt.Errorf("--client-ca: %w", err)
	}
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--client-ca %s: want certificates in the form PEM", f.own)
	}
	return c, nil
}
