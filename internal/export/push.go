package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// A Pusher sends profiles to a server.
type Pusher struct {
	URL    string      // of the server, without a path of its API: "http://127.0.0.1:4040"
	Tenant string      // X-Scope-OrgID; "" for none
	Token  string      // of the header Authorization: Bearer; "" for none
	Header http.Header // more headers; what else is set here goes before

	// Tries is how often to try before giving up, with pauses
	// that grow from Pause, twofold each time; 0 stands for 1.
	Tries int
	Pause time.Duration
}

// client follows no redirection. A redirected request would take
// tokens to another server, or ask for a page instead of sending
// the profile.
var client = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// A Message is a profile in the form that a kind of server takes.
type Message struct {
	api         string // the path of the request
	query       url.Values
	contentType string
	body        []byte
}

// appName has the names that Pyroscope takes: an application,
// and labels in braces.
var appName = regexp.MustCompile(`^[a-zA-Z0-9_.\-/]+(\{([a-zA-Z_][a-zA-Z0-9_]*=[^,{}="\s]+(,[a-zA-Z_][a-zA-Z0-9_]*=[^,{}="\s]+)*)?\})?$`)

// CheckAppName returns an error if Pyroscope does not take the
// name of an application.
func CheckAppName(name string) error {
	if !appName.MatchString(name) {
		return fmt.Errorf("name %q: want an application and labels, "+
			"such as shop{env=staging,region=eu}", name)
	}
	return nil
}

// PyroscopeMessage returns a profile, which it changes, for the
// ingest API of Pyroscope. The name is the application's, with
// labels: "shop{env=staging}".
func PyroscopeMessage(of *profile.Profile, name string, from, until time.Time) (Message, error) {
	if err := CheckAppName(name); err != nil {
		return Message{}, err
	}
	file, err := asWall(of)
	if err != nil {
		return Message{}, fmt.Errorf("push: %w", err)
	}
	body, kind, err := pyroscopeForm(file)
	// If the format is given, a server takes the whole body for
	// the profile. It recognises a form by its content type.
	return Message{"ingest", url.Values{
		"name": {name}, "from": {strconv.FormatInt(from.Unix(), 10)},
		"until":   {strconv.FormatInt(max(until.Unix(), from.Unix()+1), 10)},
		"spyName": {"cpprof"},
	}, kind, body}, err
}

// OTLPMessage returns what OTLPOf made for a collector of OpenTelemetry.
func OTLPMessage(body []byte) Message {
	return Message{"v1development/profiles", nil, "application/x-protobuf", body}
}

// Check returns an error if the URL is wrong.
func (p *Pusher) Check() error {
	u, err := url.Parse(p.URL)
	if err != nil {
		return fmt.Errorf("push to %q: want the URL of a server, such as http://127.0.0.1:4040",
			p.URL)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" {
		return fmt.Errorf("push to %s: want the URL of a server, such as http://127.0.0.1:4040",
			u.Redacted())
	}
	return nil
}

// sampleTypes tells Pyroscope what the sample types of a profile
// of cpprof are.
const sampleTypes = `{"wall":{"units":"nanoseconds","display-name":"wall","aggregation":"sum","cumulative":false,"sampled":false},` +
	`"hits":{"units":"samples","display-name":"hits","aggregation":"sum","cumulative":false,"sampled":false}}`

// Push sends a message. It tries again if the server can't be
// reached, is busy or fails.
func (p *Pusher) Push(ctx context.Context, m Message) error {
	if err := p.Check(); err != nil {
		return err
	}
	var last error
	pause := p.Pause
	for try := range max(1, p.Tries) {
		if try > 0 {
			wait := max(pause+time.Duration(rand.Int64N(int64(pause)/4+1)), askedPause(last))
			pause *= 2
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w (%w)", last, ctx.Err())
			case <-time.After(wait):
			}
		}
		if last = p.once(ctx, m); last == nil || !again(last) || ctx.Err() != nil {
			return last
		}
	}
	return fmt.Errorf("%w; tried %d times", last, max(1, p.Tries))
}

// A refusal is an answer other than success.
type refusal struct {
	server string
	status string
	code   int
	text   string
	after  time.Duration // that the server asks to wait
	to     string        // where the server sends the request
}

func (r *refusal) Error() string {
	hint := ""
	switch r.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = ": it wants a tenant or a token ('cpprof export push' has --tenant and --token-file, " +
			"OpenTelemetry $OTEL_EXPORTER_OTLP_HEADERS)"
	case http.StatusNotFound:
		hint = ": is this the URL of such a server, without the path of its API?"
	}
	if r.to != "" {
		hint = fmt.Sprintf(": it refers to %q; if that is right, push there", r.to)
	}
	text := ""
	if r.text != "" {
		text = fmt.Sprintf(" (%.200q)", r.text)
	}
	return fmt.Sprintf("push to %s: the server answers %s%s%s", r.server, r.status, text, hint)
}

// again reports whether an error may be gone later.
func again(err error) bool {
	var no *refusal
	return !errors.As(err, &no) || no.code >= 500 || no.code == http.StatusTooManyRequests ||
		no.code == http.StatusRequestTimeout
}

// maxPause bounds the pause that a server can ask for.
const maxPause = time.Minute

func askedPause(err error) time.Duration {
	if no, ok := errors.AsType[*refusal](err); ok {
		return min(no.after, maxPause)
	}
	return 0
}

// once sends a message once.
func (p *Pusher) once(ctx context.Context, m Message) error {
	u, err := url.Parse(p.URL)
	if err != nil {
		return err
	}
	server := u.Redacted()
	u = u.JoinPath(m.api)
	u.RawQuery = m.query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(),
		bytes.NewReader(m.body))
	if err != nil {
		return fmt.Errorf("push to %s: %w", server, err)
	}
	maps.Copy(request.Header, p.Header)
	request.Header.Set("Content-Type", m.contentType)
	if p.Tenant != "" {
		request.Header.Set("X-Scope-OrgID", p.Tenant)
	}
	if p.Token != "" {
		request.Header.Set("Authorization", "Bearer "+p.Token)
	}
	answer, err := client.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return fmt.Errorf("push to %s: %w", server, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if answer.StatusCode/100 == 2 {
		return nil
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	no := &refusal{server: server, status: answer.Status, code: answer.StatusCode,
		text: strings.TrimSpace(string(text)), after: time.Duration(max(0, min(seconds, 3600))) * time.Second}
	if to, err := answer.Location(); err == nil && answer.StatusCode/100 == 3 {
		to.RawQuery, no.text = "", "" // what follows the path is this push
		no.to = to.Redacted()
	}
	return no
}

// asWall returns a profile as a file. It calls its time wall
// time: Pyroscope names a profile after its sample types, and
// knows this one.
func asWall(p *profile.Profile) ([]byte, error) {
	const ours, wall = "time", "wall"
	for _, t := range p.SampleType {
		if t.Type == ours {
			t.Type = wall
		}
	}
	if p.DefaultSampleType == ours {
		p.DefaultSampleType = wall
	}
	var file bytes.Buffer
	err := p.Write(&file)
	return file.Bytes(), err
}

// pyroscopeForm returns the form with the profile, and its content type.
func pyroscopeForm(file []byte) ([]byte, string, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, field := range []struct{ name, file, content string }{
		{"profile", "profile.pprof", string(file)},
		{"sample_type_config", "sample_type_config.json", sampleTypes},
	} {
		to, err := w.CreateFormFile(field.name, field.file)
		if err == nil {
			_, err = io.WriteString(to, field.content)
		}
		if err != nil {
			return nil, "", err
		}
	}
	err := w.Close()
	return form.Bytes(), w.FormDataContentType(), err
}
