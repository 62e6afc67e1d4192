package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
)

// Places in the image.
const (
	pluginPath = "/kubectl-cpprof"
	cpprofPath = "/cpprof"
)

// A session runs cpprof in a pod once.
type session struct {
	*request
	kubectl  *kubectl
	out, err io.Writer
	stop     <-chan os.Signal
	added    string // the container of cpprof
}

var errInterrupted = errors.New("interrupted: if it starts all the same, it ends after a minute")

func (s *session) say(format string, args ...any) {
	termtext.Fprintf(s.err, "cpprof: "+format+"\n", args...)
}

// run returns cpprof's exit status.
func (s *session) run(ctx context.Context) (int, error) {
	p, err := s.look(ctx)
	if err != nil {
		return 0, err
	}
	target, err := p.choose(s.container)
	if err != nil {
		return 0, fmt.Errorf("pod %s: %w", s.pod, err)
	}
	if err := s.add(ctx, target); err != nil {
		return 0, err
	}
	if err := s.wait(ctx); err != nil {
		return 0, fmt.Errorf("container %s in pod %s: %w", s.added, s.pod, err)
	}
	status, err := s.work(ctx)
	s.sayEnd(ctx)
	return status, err
}

// look asks for the pod.
func (s *session) look(ctx context.Context) (*pod, error) {
	text, err := s.kubectl.output(ctx, "get", "pod", s.pod, "-o", "json")
	if err != nil {
		return nil, err
	}
	return parsePod(text)
}

// rights is what the container may do. The kernel asks for
// SYS_PTRACE to read another program, and for DAC_OVERRIDE to
// open its files in /proc if it has another user.
var rights = map[string]any{"securityContext": map[string]any{
	"runAsUser": 0, "runAsNonRoot": false, "allowPrivilegeEscalation": false,
	"capabilities": map[string]any{"drop": []string{"ALL"}, "add": []string{"SYS_PTRACE", "DAC_OVERRIDE"}},
}}

// add adds the container. It shares the processes of the target's.
func (s *session) add(ctx context.Context, target string) error {
	f, err := os.CreateTemp("", "cpprof-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(json.NewEncoder(f).Encode(rights), f.Close()); err != nil {
		return err
	}
	s.added = fmt.Sprintf("cpprof-%05x", rand.N(1<<20))
	s.say("adding the container %s to pod %s, beside %s", s.added, s.pod, target)
	_, err = s.kubectl.output(ctx, "debug", "pod/"+s.pod, "--target="+target, "--image="+s.image,
		"--container="+s.added, "--profile=general", "--custom="+f.Name(), "--quiet",
		"--", pluginPath, inside, roleHold)
	return err
}

const (
	lookEvery = 500 * time.Millisecond
	mostWait  = 5 * time.Minute
)

// hopeless lists why a container does not start, if waiting is no help.
var hopeless = map[string]string{
	"ImagePullBackOff":           pullRemedy,
	"InvalidImageName":           pullRemedy,
	"ErrImageNeverPull":          pullRemedy,
	"CreateContainerConfigError": "",
	"CreateContainerError":       "",
	"RunContainerError":          imageRemedy,
}

const (
	pullRemedy  = "The cluster can't get the image: see --image. The pod keeps trying. Once it has the image, the container ends after a minute."
	imageRemedy = "Is the image (--image) one of cpprof, with kubectl-cpprof in it?"
)

// wait waits until the container runs.
func (s *session) wait(ctx context.Context) error {
	said := ""
	for end := time.Now().Add(mostWait); ; {
		p, err := s.look(ctx)
		if err != nil && len(s.stop) > 0 { // Ctrl-C ends kubectl, too
			return errInterrupted
		}
		if err != nil {
			return err
		}
		now := "waiting for the cluster to start it"
		if c := find(p.Status.EphemeralContainerStatuses, s.added); c != nil {
			switch w := c.State.Waiting; {
			case c.State.Running != nil:
				return nil
			case c.State.Terminated != nil:
				return advise(fmt.Errorf("it ended at once: %v", c.State.Terminated), imageRemedy)
			case w != nil:
				if remedy, ok := hopeless[w.Reason]; ok {
					return advise(fmt.Errorf("it does not start: %v", w), remedy)
				}
				now = "waiting: " + w.String()
			}
		}
		if now != said {
			s.say("%s", now)
			said = now
		}
		if time.Now().After(end) {
			return fmt.Errorf("it did not start in %v; %s", mostWait, now)
		}
		select {
		case <-s.stop:
			return errInterrupted
		case <-time.After(lookEvery):
		}
	}
}

// work runs cpprof in the container, and receives what it makes.
func (s *session) work(ctx context.Context) (status int, err error) {
	process := cmp.Or(s.process, anyProcess)
	args := append([]string{"exec", "-i", "-q", s.pod, "-c", s.added, "--",
		pluginPath, inside, roleRun, process}, s.arguments()...)
	c := s.kubectl.command(ctx, args...)
	ownGroup(c)
	said := &tail{}
	c.Stderr = io.MultiWriter(s.err, said)
	in, err := c.StdinPipe()
	if err != nil {
		return 0, err
	}
	from, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	received := make(chan struct{})
	go s.watch(c, in, received)
	status, err = receive(from, s.out, s.output)
	close(received)
	in.Close() // the other side waits for that
	_, _ = io.Copy(io.Discard, from)
	failed := c.Wait()
	if err == nil {
		return status, nil
	}
	if remedy := remedy("exec", said.String()); remedy != "" {
		return 0, advise(errors.New("cpprof did not run in the container"), remedy)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, advise(errors.Join(errors.New("the run in the container broke off, and its recording is lost"), failed),
			"The connection broke, or the program's container ended, and all its processes with it.")
	}
	return 0, fmt.Errorf("the recording is lost: %w", err)
}

// watch ends the recording at a first signal, and the run at a second one.
func (s *session) watch(c *exec.Cmd, in io.WriteCloser, received <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-received:
			return
		case <-s.stop:
		}
		if i > 0 {
			_ = c.Process.Kill()
			return
		}
		s.say("ending; again to give up")
		_, _ = io.WriteString(in, "stop\n")
	}
}

// sayEnd waits a moment for the end of the container.
func (s *session) sayEnd(ctx context.Context) {
	state := "ends within a minute"
	for range 10 {
		p, err := s.look(ctx)
		if err != nil {
			break
		}
		if c := find(p.Status.EphemeralContainerStatuses, s.added); c != nil && c.State.Terminated != nil {
			state = "has ended"
			break
		}
		time.Sleep(lookEvery / 2)
	}
	s.say("the container %s %s; pod %s lists it until the pod goes", s.added, state, s.pod)
}
