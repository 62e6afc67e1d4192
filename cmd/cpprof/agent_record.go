package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/agent"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// The agent makes each recording in a process of its own, which
// it can give up: a program may have memory that never answers a
// read, or may be made to crash who reads it. That process is
// cpprof with the agent's own arguments.

// agentTask is the environment variable with the task of such a process.
const agentTask = "CPPROF_AGENT_TASK"

// A recordingTask says what to record.
type recordingTask struct {
	PID     int
	Program string // its identity, as text
	Lasts   time.Duration
	Keep    bool // the last seconds, until the process ends
}

// A recordingAnswer is what such a process writes.
type recordingAnswer struct {
	Profiles agent.Profiles
	Stuck    int    // number of goroutines that are stuck for good
	Changed  bool   // the process id is another program's now
	Error    string // "" if there are profiles
}

const (
	readTime    = 2 * time.Second // after which a read does not return
	endTime     = time.Second     // for a process that is asked to end
	slowness    = time.Minute     // how much longer than asked a recording may take
	largeAnswer = 256 << 20
)

// recordApart records a process, in another one.
func recordApart(ctx context.Context, t terminal, p *sampler.Process,
	lasts time.Duration) (agent.Profiles, int, error) {
	c, alive, out, err := startApart(t, recordingTask{PID: p.PID,
		Program: fmt.Sprint(p.Identity()), Lasts: lasts})
	if err != nil {
		return nil, 0, err
	}
	defer alive.Close()
	ctx, cancel := context.WithTimeout(ctx, lasts+slowness)
	defer cancel()
	var answer recordingAnswer
	ended := make(chan error, 1)
	go func() {
		err := json.NewDecoder(io.LimitReader(out, largeAnswer)).Decode(&answer)
		_ = out.Close()
		if failed := helpers.wait(c); failed != nil {
			err = failed
		}
		ended <- err
	}()
	if err := awaitEnd(ctx, ended, alive, c.Process); err != nil {
		return nil, 0, fmt.Errorf("the recording of process %d failed: %w", p.PID, err)
	}
	switch {
	case answer.Changed:
		return nil, 0, agent.ErrChanged
	case answer.Error != "":
		return nil, 0, errors.New(answer.Error)
	}
	return answer.Profiles, answer.Stuck, nil
}

// startApart starts a process for a task. The end of its input
// is its signal to end.
func startApart(t terminal, task recordingTask) (c *exec.Cmd, in io.WriteCloser,
	out io.ReadCloser, err error) {
	text, err := json.Marshal(task)
	if err != nil {
		return nil, nil, nil, err
	}
	c = exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Args[0], c.Stderr = os.Args[0], t.err
	c.Env = append(os.Environ(), agentTask+"="+string(text))
	if in, err = c.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	if out, err = c.StdoutPipe(); err == nil {
		err = helpers.start(c, task.Keep)
	}
	if err != nil {
		in.Close()
	}
	return c, in, out, err
}

// helpers are the processes that this one has started. They are
// no programs to serve.
var helpers = family{all: make(map[int]bool)}

type family struct {
	mu    sync.Mutex
	all   map[int]bool  // by pid: it keeps the last seconds of a program
	spent time.Duration // by those that kept and have ended
}

func (f *family) start(c *exec.Cmd, keeps bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := c.Start(); err != nil {
		return err
	}
	f.all[c.Process.Pid] = keeps
	return nil
}

func (f *family) wait(c *exec.Cmd) error {
	err := c.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[c.Process.Pid] {
		f.spent += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	delete(f.all, c.Process.Pid)
	return err
}

func (f *family) has(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, there := f.all[pid]
	return there
}

// used returns the processor time of those that keep.
func (f *family) used() (alive, ended time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pid, keeps := range f.all {
		if keeps {
			alive += sampler.ProcessorTimeOf(pid)
		}
	}
	return alive, f.spent
}

// awaitEnd returns how a process ended. If the context ends
// first, the process has to end, too. If even the kernel can't
// end it, it is left behind.
func awaitEnd(ctx context.Context, ended <-chan error, alive io.Closer, p *os.Process) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	_ = alive.Close()
	select {
	case <-ended:
	case <-time.After(endTime):
		_ = p.Kill()
	}
	return context.Cause(ctx)
}

// recordTask makes the recording that the agent asked for, and
// writes its profiles. It ends when the agent does.
func (f *agentFlags) recordTask(ctx context.Context, t terminal, text string) error {
	var task recordingTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		return fmt.Errorf("%s: %w", agentTask, err)
	}
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := json.NewEncoder(t.out)
	go watchReads(readTime, func(err error) {
		_ = answers.Encode(recordingAnswer{Error: err.Error()})
		os.Exit(exitFine) // the system detaches from the program
	})
	if task.Keep {
		return f.keepTask(ctx, cancel, t, signals, task, answers)
	}
	go func() {
		_, _ = io.Copy(io.Discard, t.in)
		cancel()
	}()
	r, err := f.record(ctx, t, signals, task)
	var answer recordingAnswer
	if err == nil {
		answer.Stuck = r.Marking.Number(sampledata.Stuck)
		answer.Profiles, err = f.profiles(t, r)
	}
	if err != nil {
		answer.Changed, answer.Error = errors.Is(err, agent.ErrChanged), err.Error()
	}
	return answers.Encode(answer)
}

// record records a process. All recordings at a time share the
// bound on processor time.
func (f *agentFlags) record(ctx context.Context, t terminal, signals *signals,
	task recordingTask) (*sampledata.Recording, error) {
	o := f.options
	o.Duration = task.Lasts
	o.MaxCPU /= float64(f.atOnce)
	var builder *sampledata.Builder
	if err := f.recordInto(ctx, t, signals, task, o,
		func(_ *sampler.Process, h sampledata.Header) sampledata.Sink {
			builder = sampledata.NewBuilder(h)
			return builder
		}); err != nil {
		return nil, err
	}
	r := builder.Recording()
	if r.Samples.Len() == 0 && ctx.Err() == nil {
		return nil, fmt.Errorf("process %d ended before it could be sampled, or could not be halted",
			task.PID)
	}
	return r, nil
}

// recordInto records a process into a sink.
func (f *agentFlags) recordInto(ctx context.Context, t terminal, signals *signals,
	task recordingTask, o sampler.Options,
	sink func(*sampler.Process, sampledata.Header) sampledata.Sink) error {
	p, b, err := attachTo(t, task.PID, f.backend, anyProgram)
	if err != nil {
		return err
	}
	defer p.Release()
	b = signals.suspendable(b)
	defer b.Close()
	// The backend reads the program that the process runs now,
	// and notices when it executes another one.
	if fmt.Sprint(sampler.IdentityOf(task.PID)) != task.Program {
		return agent.ErrChanged
	}
	h := b.Header()
	o.Describe(&h, version(), f.backend)
	_, err = sampler.Record(ctx, p, b, sink(p, h), o)
	return err
}

// profiles makes the profiles of a recording as 'cpprof export'
// does: of all classes.
func (f *agentFlags) profiles(t terminal, r *sampledata.Recording) (agent.Profiles, error) {
	e := exportFlags{reportFlags: reportFlags{viewFlags: viewFlags{inputFlags: inputFlags{err: t.err}}}}
	s, err := e.prepared()
	if err != nil {
		return nil, err
	}
	s.path, s.recording = fmt.Sprintf("process %d", r.Header.PID), r
	subject, err := e.exportedOf(s)
	if err != nil {
		return nil, err
	}
	return agent.Exported(subject, f.otlp)
}
