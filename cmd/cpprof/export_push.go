package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/export"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/spf13/cobra"
)

// pushFlags are the flags of push.
type pushFlags struct {
	exportFlags
	app, tenant string
	otlp        bool
	token       string // the file that has it
}

// pushTries is how often a push is tried, with pauses of 1, 2
// and 4 seconds.
const pushTries = 4

func newPushCommand(t terminal) *cobra.Command {
	var f pushFlags
	c := &cobra.Command{
		Use:   "push RECORDING URL",
		Short: "Send a profile of a recording to Pyroscope or an OpenTelemetry collector",
		Long: `push sends what 'cpprof export --to pprof' writes to the Pyroscope server at a URL, with the time of
the recording. --app names the application, with labels: shop{env=staging}.

With --otlp, it sends what 'cpprof export --to otlp' writes to an OpenTelemetry collector, by HTTP,
with the headers of $OTEL_EXPORTER_OTLP_HEADERS (or $OTEL_EXPORTER_OTLP_PROFILES_HEADERS).
The collector takes it if its feature gate service.profilesSupport is on.`,
		Example: `  cpprof export push run.cpprof http://localhost:4040 --app 'shop{env=staging}'
  cpprof export push run.cpprof https://profiles.example --tenant shop --token-file token
  cpprof export push run.cpprof http://localhost:4318 --otlp`,
		Args:              wantArgs(2, 2, "want a recording and the URL of a server"),
		ValidArgsFunction: completeRecording,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := f.exported(args[0], export.Pprof)
			if err != nil {
				return err
			}
			return f.push(c.Context(), t, s, args[1])
		},
	}
	f.addExported(c, t)
	c.Flags().StringVar(&f.app, "app", "",
		"the `name` of the application (default: that of the program)")
	addOTLP(c, &f.otlp)
	c.MarkFlagsMutuallyExclusive("otlp", "app")
	c.Flags().StringVar(&f.tenant, "tenant", "", "the `name` of the tenant (X-Scope-OrgID)")
	addTokenFile(c, &f.token)
	return c
}

func addOTLP(c *cobra.Command, otlp *bool) {
	c.Flags().BoolVar(otlp, "otlp", false, "push to an OpenTelemetry collector")
}

func addTokenFile(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "token-file", "",
		"a `file` with the token of the header 'Authorization: Bearer'")
}

// readToken reads a token; "" without a file. It warns of a file
// that everybody can read.
func readToken(t terminal, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \r\n\t") {
		return "", fmt.Errorf("--token-file %s: want one token in one line", path)
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" &&
		info.Mode().Perm()&0o006 != 0 {
		tell(t.err, "--token-file %s: all users of this host can read or write it: chmod o= %s",
			path, path)
	}
	return token, nil
}

// push sends a subject.
func (f *pushFlags) push(ctx context.Context, t terminal, s *export.Subject, url string) error {
	token, err := readToken(t, f.token)
	if err != nil {
		return err
	}
	p := export.Pusher{URL: url, Tenant: f.tenant, Token: token, Tries: pushTries,
		Pause: time.Second}
	if f.otlp {
		if p.Header, err = collectorHeaders(); err != nil {
			return &usageError{err}
		}
	}
	if err := p.Check(); err != nil {
		return &usageError{err}
	}
	if from, _ := s.Times(); from.IsZero() {
		return fmt.Errorf("%s does not say when it was recorded, which the server has to be told",
			s.Path)
	}
	message, as, err := f.message(s)
	if err != nil {
		return err
	}
	if err := p.Push(ctx, message); err != nil {
		return err
	}
	_, err = termtext.Fprintf(t.out, "%s of %s, pushed as %s\n", s.Title, s.Path, as)
	return err
}

// collectorHeaders returns the headers that the environment has
// for a collector of OpenTelemetry. Those for profiles replace
// those for all signals.
func collectorHeaders() (http.Header, error) {
	const all, profiles = "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_PROFILES_HEADERS"
	name := profiles
	if os.Getenv(name) == "" {
		name = all
	}
	headers, err := export.ParseHeaders(os.Getenv(name))
	if err != nil {
		return nil, fmt.Errorf("$%s: %w", name, err)
	}
	return headers, nil
}

// message returns a subject in the form that the server takes,
// and what the server will call it.
func (f *pushFlags) message(s *export.Subject) (export.Message, string, error) {
	if f.otlp {
		body, err := export.OTLPOf(s)
		return export.OTLPMessage(body), "OpenTelemetry profiles", err
	}
	app := cmp.Or(f.app, appOf(s.Recording.Header.Executable))
	if err := export.CheckAppName(app); err != nil {
		return export.Message{}, "", &usageError{err}
	}
	profile, err := export.PprofOf(s)
	if err != nil {
		return export.Message{}, "", err
	}
	from, until := s.Times()
	m, err := export.PyroscopeMessage(profile, app, from, until)
	return m, app, err
}

// appOf makes the name of an application of a program's file: of
// characters that Pyroscope takes.
func appOf(executable string) string {
	name := executable[strings.LastIndexAny(executable, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_.-", r) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unknown"
	}
	return name
}
