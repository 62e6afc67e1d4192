package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/cpprof/cpprof/internal/agent"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// The agent makes each recording in a process of its own, which it can give
// up: a program may have memory that never answers a read, or may be made to
// crash who reads it. That process is cpprof with the agent's own arguments.

// agentTask is the environment variable with the task of such a process.
const agentTask = "CPPROF_AGENT_TASK"

// A recordingTask says what to record.
type recordingTask struct {
	PID     int
	Program string // its identity, as text
	Lasts   time.Duration
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
	task, err := json.Marshal(recordingTask{p.PID, fmt.Sprint(p.Identity()), lasts})
	if err != nil {
		return nil, 0, err
	}
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Args[0], c.Stderr = os.Args[0], t.err
	c.Env = append(os.Environ(), agentTask+"="+string(task))
	alive, err := c.StdinPipe() // its end is the other one's signal to end
	if err != nil {
		return nil, 0, err
	}
	defer alive.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := c.Start(); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, lasts+slowness)
	defer cancel()
	var answer recordingAnswer
	ended := make(chan error, 1)
	go func() {
		err := json.NewDecoder(io.LimitReader(out, largeAnswer)).Decode(&answer)
		_ = out.Close()
		if failed := c.Wait(); failed != nil {
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

// awaitEnd returns how a process ended. If the context ends first, the process
// has to end, too. If even the kernel can't end it, it is left behind.
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

// recordTask makes the recording that the agent asked for, and writes its
// profiles. It ends when the agent does.
func (f *agentFlags) recordTask(ctx context.Context, t terminal, text string) error {
	var task recordingTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		return fmt.Errorf("%s: %w", agentTask, err)
	}
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, t.in)
		cancel()
	}()
	answers := json.NewEncoder(t.out)
	go func() {
		for range time.Tick(readTime / 4) {
			if pid := sampler.Stuck(readTime); pid != 0 {
				_ = answers.Encode(recordingAnswer{Error: fmt.Sprintf(
					"a read of the memory of process %d does not return", pid)})
				os.Exit(exitFine) // the system detaches from the program
			}
		}
	}()
	r, err := f.record(ctx, t, signals, task)
	var answer recordingAnswer
	if err == nil {
		answer.Stuck = r.Marking.Number(sampledata.Stuck)
		answer.Profiles, err = agentProfiles(t, r)
	}
	if err != nil {
		answer.Changed, answer.Error = errors.Is(err, agent.ErrChanged), err.Error()
	}
	return answers.Encode(answer)
}

// record records a process. All recordings at a time share the bound on
// processor time.
func (f *agentFlags) record(ctx context.Context, t terminal, signals *signals,
	task recordingTask) (*sampledata.Recording, error) {
	p, b, err := attachTo(t, task.PID, f.backend, anyProgram)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	b = signals.suspendable(b)
	defer b.Close()
	// The backend reads the program that the process runs now, and notices
	// when it executes another one.
	if fmt.Sprint(sampler.IdentityOf(task.PID)) != task.Program {
		return nil, agent.ErrChanged
	}
	o := f.options
	o.Duration = task.Lasts
	o.MaxCPU /= float64(f.atOnce)
	h := b.Header()
	o.Describe(&h, version(), f.backend)
	builder := sampledata.NewBuilder(h)
	if _, err := sampler.Record(ctx, p, b, builder, o); err != nil {
		return nil, err
	}
	r := builder.Recording()
	if r.Samples.Len() == 0 && ctx.Err() == nil {
		return nil, fmt.Errorf("process %d ended before it could be sampled, or could not be halted",
			task.PID)
	}
	return r, nil
}

// agentProfiles makes the profiles of a recording as 'cpprof export' does: of
// all classes.
func agentProfiles(t terminal, r *sampledata.Recording) (agent.Profiles, error) {
	f := exportFlags{reportFlags: reportFlags{viewFlags: viewFlags{inputFlags: inputFlags{err: t.err}}}}
	s := &source{path: fmt.Sprintf("process %d", r.Header.PID), recording: r}
	var err error
	if s.config, err = f.configuration(); err != nil {
		return nil, err
	}
	if s.options, err = f.viewOptions(s.config); err != nil {
		return nil, err
	}
	subject, err := f.exportedOf(s)
	if err != nil {
		return nil, err
	}
	return agent.Exported(subject)
}
