package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/why"
	"github.com/shopspring/decimal"
)

// TestOneNumber demands that commands which say something of the
// same thing say the same. It asks why of each recording in
// testdata, of an execution trace and of other files, and
// compares the answer with its commands, and with the other
// commands.
func TestOneNumber(t *testing.T) {
	twins := fixture.Must(filepath.Glob("testdata/*.txt"))(t)
	folder := t.TempDir()
	var files []string
	for _, twin := range twins {
		file := filepath.Join(folder, strings.TrimSuffix(filepath.Base(twin), ".txt")+".cpprof")
		fixture.Check(t, undumpFile(twin, file))
		files = append(files, file)
	}
	files = append(files, seldomFile(t, folder))
	files = append(files, otherFiles(t, folder)...)
	t.Parallel() // only now: a trace has all that runs meanwhile
	compared := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { compared += sameNumbers(t, file) })
	}
	sameForAssistants(t, files[0])
	if compared < 10 {
		t.Errorf("only %d shares were compared with what their commands print", compared)
	}
}

// otherFiles writes files of other tools: an execution trace of
// workers, a goroutine dump, a pprof profile, and folded stacks.
func otherFiles(t *testing.T, folder string) []string {
	t.Helper()
	at := func(name string) string { return filepath.Join(folder, name) }
	var traced, dump, profile bytes.Buffer
	if err := trace.Start(&traced); err != nil {
		t.Skipf("this test is being traced itself: %v", err)
	}
	work, answers := make(chan int), make(chan int)
	stop := make(chan struct{})
	for range 3 {
		go tracedWorker(work, answers, stop)
	}
	for i := range 200 {
		work <- i
		<-answers
		if i%20 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	pprof.Lookup("goroutine").WriteTo(&dump, 2)
	runtime.GC()
	pprof.Lookup("heap").WriteTo(&profile, 0)
	close(stop)
	trace.Stop()
	var files []string
	for name, content := range map[string][]byte{
		"run.trace": traced.Bytes(), "goroutines.txt": dump.Bytes(), "heap.pb.gz": profile.Bytes(),
		"stacks.folded": []byte("main.main;main.work;main.hash 70\nmain.main;main.work 20\nmain.main;main.load 10\n"),
		"perf.txt": []byte("shop 7/9 10.000000: 4000000 cpu-clock:\n\t46a8c1 main.hash+0x10 (/tmp/shop)\n\t46a8c2 main.main+0x20 (/tmp/shop)\n\n" +
			"shop 7/9 10.004000: 4000000 cpu-clock:\n\t46a8c2 main.main+0x20 (/tmp/shop)\n\n"),
	} {
		files = append(files, at(name))
		fixture.Check(t, os.WriteFile(at(name), content, 0o666))
	}
	slices.Sort(files)
	return files
}

// seldomFile writes a recording of two functions that compute.
// One has eight hits, for the time of more than ten. Two threads
// wait for the only CPU.
func seldomFile(t *testing.T, folder string) string {
	t.Helper()
	text := []byte(`cpprof recording 1
command ./pipe
executable /srv/pipe
pid 1
go go1.26.0
os linux
arch amd64
gomaxprocs 1
start 2026-01-02T03:04:05Z
clock monotonic
sampler version=1.0 backend=delve rate=20 jitter=1 max-overhead=0.01
function f0 main.often file=/src/main.go line=1
function f1 main.seldom file=/src/main.go line=20
function f2 main.starved file=/src/main.go line=40
node n0 f0 line=3
node n1 f1 line=22
node n2 f2 line=41
goroutine g0 1 start=f0
goroutine g1 2 start=f1
goroutine g2 3 start=f2
goroutine g3 4 start=f2
monitor m0 process.cpu counter layer=kernel unit=ns
sample 0ms processors=idle threads=5
    g2 detached n2 no-cpu
    g3 detached n2 no-cpu
    m0 value=0
`)
	for i := range 64 {
		runs, waits := i%8/7, 1-i%8/7
		text = fmt.Appendf(text, "sample %dms processors=g%d threads=5\n    g%d running n%d\n    g%d waiting n%d reason=\"sleep\"\n",
			50*(i+1+i/8), 1-waits, runs, runs, waits, waits)
	}
	text = fmt.Appendf(text, "    m0 value=3600000000\nend duration time=3650ms\n")
	twin, file := filepath.Join(folder, "seldom.txt"), filepath.Join(folder, "seldom.cpprof")
	fixture.Check(t, os.WriteFile(twin, text, 0o666))
	fixture.Check(t, undumpFile(twin, file))
	return file
}

// tracedWorker waits for work in a select.
func tracedWorker(work <-chan int, answers chan<- int, stop <-chan struct{}) {
	for {
		select {
		case n := <-work:
			answers <- tracedAnswer(n)
		case <-stop:
			return
		}
	}
}

//go:noinline
func tracedAnswer(n int) (sum int) {
	for i := range 30_000 {
		sum += i * n
	}
	return sum
}

// A whyAnswer is what why prints as JSON.
type whyAnswer struct {
	why.Answer
	Text []struct{ Finding, See string }
}

// sameNumbers compares what commands say of a file, and returns
// how many shares it has compared with their commands.
func sameNumbers(t *testing.T, file string) (compared int) {
	goesOn(t, file)
	var a whyAnswer
	out, status := printedBy(t, "why", "--json", "--set", "slow=2%", file)
	if status != exitFine {
		if !strings.Contains(out, "samples over time") && !strings.Contains(out, "moment") {
			t.Errorf("why: %s", out)
		}
		sameLocks(t, file)
		sameInPage(t, file, nil)
		return 0
	}
	fixture.Check(t, json.Unmarshal([]byte(out), &a))
	classes := idleShares(t, file)
	for i, f := range a.Findings {
		see := a.Text[i].See
		if slices.Contains([]why.Kind{why.DeadlockKind, why.LeakKind, why.StandstillKind, why.LeftKind, why.StuckKind}, f.Kind) {
			continue // counts, which are no shares
		}
		compared++
		want := decimal.NewFromFloat(f.Share.Share)
		if text := want.Mul(decimal.New(100, 0)).StringFixed(1) + " %"; !strings.Contains(a.Text[i].Finding, text) {
			t.Errorf("the share of %q is %s", a.Text[i].Finding, text)
		}
		printed, status := printedBy(t, shellWords(see)[1:]...)
		if status != exitFine {
			t.Errorf("%s: %s", see, printed)
			continue
		}
		if shellWords(see)[1] == "locks" { // no call path has the waits for this lock alone
			if text := ": " + want.Mul(decimal.New(100, 0)).StringFixed(1) + " % of its time at work"; !strings.Contains(strings.Join(strings.Fields(printed), " "), text) {
				t.Errorf("%s\n%s: it lacks %q:\n%s", a.Text[i].Finding, see, text, printed)
			}
			continue
		}
		if shellWords(see)[1] == "calls" { // it prints percentages
			if text := want.Mul(decimal.New(100, 0)).StringFixed(1) + " %  "; !strings.Contains(printed, " "+text) {
				t.Errorf("%s\n%s: it lacks %q:\n%s", a.Text[i].Finding, see, text, printed)
			}
			continue
		}
		if got := shownShare(shellWords(see), printed); got != want.StringFixed(3) {
			t.Errorf("%s\n%s: it says %q, want %s:\n%s", a.Text[i].Finding, see, got, want.StringFixed(3), printed)
		}
		if idle, ok := classes[f.Class]; ok && f.Class != "" && f.Within == nil && !f.IsCode() && f.Kind != why.AllocationKind &&
			!f.LacksCPU() && math.Abs(idle-f.Idle) > 1e-9 {
			t.Errorf("%s is idle %v in a finding, %v in classes", f.Class, f.Idle, idle)
		}
	}
	for _, r := range a.Resting {
		if idle, ok := classes[r.Class]; !ok || math.Abs(idle-r.Idle) > 1e-9 {
			t.Errorf("%s is idle %v in why, %v in classes", r.Class, r.Idle, idle)
		}
	}
	sameAsItself(t, file)
	sameCPUs(t, file, &a)
	sameLocks(t, file)
	sameInPage(t, file, &a)
	return compared
}

// goesOn demands that the commands to go on with find something.
func goesOn(t *testing.T, file string) {
	t.Helper()
	for _, command := range []string{"report", "locks", "calls"} {
		out, _ := printedBy(t, command, file)
		for _, m := range regexp.MustCompile(`(?m)^  (cpprof .*)$`).FindAllStringSubmatch(out, -1) {
			if printed, status := printedBy(t, shellWords(m[1])[1:]...); status != exitFine {
				t.Errorf("%s names %s, which says %s", command, m[1], printed)
			}
		}
	}
}

// sameAsItself demands that a recording is not slower than
// itself, and has not improved.
func sameAsItself(t *testing.T, file string) {
	t.Helper()
	out, _ := printedBy(t, "why", "--json", "--against", file, file)
	var a whyAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil || len(a.Findings) > 0 || len(a.Improved) > 0 {
		t.Errorf("compared with itself: %v: %s", err, out)
	}
}

// sameCPUs compares the CPUs used in why, info and the Server View.
func sameCPUs(t *testing.T, file string, a *whyAnswer) {
	t.Helper()
	if a.State == why.TooLittle {
		return
	}
	out, _ := printedBy(t, "cost", file, "--server", "*", "--json")
	var costs struct{ Costs []struct{ Cost float64 } }
	if err := json.Unmarshal([]byte(out), &costs); err != nil || len(costs.Costs) != 1 || math.Abs(costs.Costs[0].Cost-a.Used.Share) > 1e-9 {
		t.Errorf("why says that %v of the processors are used, the Server View: %s", a.Used.Share, out)
	}
	out, _ = printedBy(t, "report", file, "--server", "--json")
	var tree struct{ Profile struct{ Cost float64 } }
	if err := json.Unmarshal([]byte(out), &tree); err != nil || math.Abs(tree.Profile.Cost-a.Used.Share) > 1e-9 {
		t.Errorf("why says that %v of the processors are used, report: %.200s", a.Used.Share, out)
	}
	sameInTop(t, file, tree.Profile.Cost)
	out, _ = printedBy(t, "info", file, "--json")
	var info struct{ CPUs *metrics.Utilisation }
	fixture.Check(t, json.Unmarshal([]byte(out), &info))
	if u := info.CPUs; u != nil &&
		(math.Abs(u.Share-a.Used.Share) > 1e-9 || math.Abs(u.Margin-a.Used.Margin()*a.Processors) > 1e-9 || math.Abs(u.NoCPU-a.NoCPU) > 1e-9) {
		t.Errorf("why says that %+v of %v processors are used, and %v threads have none, info %+v", a.Used, a.Processors, a.NoCPU, *u)
	}
}

// sameInTop compares the first line of top with the processors
// used, if top looks at the whole recording.
func sameInTop(t *testing.T, file string, used float64) {
	t.Helper()
	s := fixture.Must((&viewFlags{inputFlags: inputFlags{err: io.Discard}}).open(file))(t)
	r := s.recording
	top := fixture.Must(report.Latest(r, r, s.config, s.options, r.Samples.Time(r.Samples.Len()-1)+time.Second))(t)
	want := ", processors " + decimal.NewFromFloat(used).Mul(decimal.New(100, 0)).StringFixed(0) + " % busy"
	if line := top.Lines()[0]; !strings.HasSuffix(line, want) {
		t.Errorf("top says %q, want %q", line, want)
	}
}

// A waitsAnswer is what locks, info and classes print of the
// waits for locks as JSON.
type waitsAnswer struct {
	Waits struct {
		Hits  int64
		Share float64 `json:"attributed_share"`
	}
	Locks []struct {
		Name string
		Mean float64 `json:"mean_waiting"`
	}
}

// sameLocks compares what locks, info and classes say of the
// waits for locks.
func sameLocks(t *testing.T, file string) {
	t.Helper()
	out, status := printedBy(t, "locks", file, "--json")
	if status != exitFine {
		return // a profile has no locks
	}
	var locks waitsAnswer
	fixture.Check(t, json.Unmarshal([]byte(out), &locks))
	out, _ = printedBy(t, "info", file, "--json")
	var info struct{ Locks waitsAnswer }
	// its locks are a number here
	if err := json.Unmarshal([]byte(out), &info); err != nil || info.Locks.Waits != locks.Waits {
		t.Errorf("locks says %+v, info %+v, %v", locks.Waits, info.Locks.Waits, err)
	}
	out, _ = printedBy(t, "classes", file, "--json")
	var classes struct {
		Classes []struct{ Hits map[string]*big.Rat }
	}
	fixture.Check(t, json.Unmarshal([]byte(out), &classes))
	waits := new(big.Rat)
	for _, c := range classes.Classes {
		waits.Add(waits, c.Hits["MONITOR"])
	}
	if waits.Cmp(big.NewRat(locks.Waits.Hits, 1)) != 0 {
		t.Errorf("locks has %d hits of waiting, classes %s", locks.Waits.Hits, waits.RatString())
	}
	table, _ := printedBy(t, "locks", file, "--top", "0")
	for _, l := range locks.Locks {
		mean := decimal.NewFromFloat(l.Mean).StringFixed(2)
		if !regexp.MustCompile(`(?m)^(.* )?` + regexp.QuoteMeta(mean) + ` .* ` + regexp.QuoteMeta(l.Name) + `$`).MatchString(table) {
			t.Errorf("%s goroutines wait for %s on average, and otherwise in the table:\n%s", mean, l.Name, table)
		}
	}
}

// sameForAssistants compares the answers of the tools for
// assistants with what commands print.
func sameForAssistants(t *testing.T, file string) {
	t.Helper()
	c := startMCP(t)
	name := filepath.Base(file)
	fixture.Check(t, os.CopyFS(filepath.Join(c.folder, name), os.DirFS(file)))
	for tool, number := range map[string]string{
		"why": `"share": *(\{[^}]*\})`, "locks": `"attributed_share": *([0-9.]+)`, "classes": `"idle": *([0-9.e-]+)`, "report": `"cost": *([0-9.]+)`,
	} {
		line := []string{tool, "--json", file}
		if tool == "report" {
			line = append(line, "--server")
		}
		out, _ := printedBy(t, line...)
		texts, _ := c.call(tool, map[string]any{"recording": name})
		want, got := firstNumber(number, out), firstNumber(number, texts[0])
		if want == "" || got != want {
			t.Errorf("%s has %q, its tool %q", tool, want, got)
		}
	}
}

// firstNumber returns what the group of a pattern matches first, without space.
func firstNumber(pattern, text string) string {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.Join(strings.Fields(m[1]), "")
}

// idleShares returns by class which share of its life it is
// idle, as classes says in its table and as data.
func idleShares(t *testing.T, file string) map[string]float64 {
	t.Helper()
	out, status := printedBy(t, "classes", "--json", file)
	var doc struct {
		Classes []struct {
			Class string
			Idle  *float64
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != exitFine {
		t.Fatalf("classes: %v: %s", err, out)
	}
	table, _ := printedBy(t, "classes", file)
	shares := make(map[string]float64)
	for _, c := range doc.Classes {
		if c.Idle == nil {
			t.Fatalf("classes --json says nothing of the time in which %s is idle", c.Class)
		}
		shares[c.Class] = *c.Idle
		row := regexp.MustCompile(`(?m)^ *\S+ +\S+ +\S+ +` + regexp.QuoteMeta(decimal.NewFromFloat(*c.Idle).StringFixed(3)) + ` .* ` + regexp.QuoteMeta(c.Class) + `$`)
		if !row.MatchString(table) {
			t.Errorf("%s is idle %v as data, and otherwise in the table:\n%s", c.Class, *c.Idle, table)
		}
	}
	return shares
}

// sameInPage checks that the page of a file has the sentences of why.
func sameInPage(t *testing.T, file string, a *whyAnswer) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	if out, status := printedBy(t, "export", file, "--to", "html", "-o", page); status != exitFine {
		t.Fatalf("the page: %s", out)
	}
	if a == nil {
		return
	}
	out, _ := printedBy(t, "why", "--json", file)
	var usual whyAnswer
	fixture.Check(t, json.Unmarshal([]byte(out), &usual))
	data := pageData(t, page)
	for _, f := range usual.Text {
		quoted, _ := json.Marshal(f.Finding)
		if !bytes.Contains(data, bytes.Trim(quoted, `"`)) {
			t.Errorf("the page does not say %q", f.Finding)
		}
	}
}

// packedData matches the data of a page.
var packedData = regexp.MustCompile(`[A-Za-z0-9+/=]{200,}`)

// pageData returns the data of a page.
func pageData(t *testing.T, page string) []byte {
	t.Helper()
	html := fixture.Must(os.ReadFile(page))(t)
	var data []byte
	for _, text := range packedData.FindAll(html, -1) {
		if packed, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
			raw, _ := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
			data = append(data, raw...)
		}
	}
	if len(data) == 0 {
		t.Fatalf("no data is found in %s", page)
	}
	return data
}

// printedBy runs a command, and returns what it prints, errors included.
func printedBy(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: &out, err: &out})
	return out.String(), status
}

// shownShare returns the cost that a command prints of what its
// line names, or "".
func shownShare(line []string, printed string) string {
	if line[1] == "info" {
		if m := regexp.MustCompile(`ready without a CPU \((\S+) % of the processors\)`).FindStringSubmatch(printed); m != nil {
			return decimal.RequireFromString(m[1]).Div(decimal.New(100, 0)).StringFixed(3)
		}
		return ""
	}
	last := "" // of the path; the root if the view is pruned
	if i := slices.Index(line, "--extended"); i >= 0 {
		last = strings.TrimPrefix(line[i+1], "* ")
	}
	for row := range strings.Lines(printed) {
		cost, rest, ok := strings.Cut(strings.TrimSpace(row), " ")
		if _, err := decimal.NewFromString(cost); err != nil || !ok || !strings.Contains(cost, ".") {
			continue
		}
		if path := strings.Join(strings.Fields(rest)[1:], " "); last == "" || path == last {
			return cost
		}
	}
	return ""
}

// shellWords divides a command line into words.
func shellWords(line string) (words []string) {
	for _, word := range shellWord.FindAllString(line, -1) {
		words = append(words, strings.Trim(word, "'"))
	}
	return words
}
