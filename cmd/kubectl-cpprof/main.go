// Command kubectl-cpprof is a plugin of kubectl: it runs cpprof
// on a program in a pod, and brings the recording here.
//
//	main.go     the command line
//	kubectl.go  the user's kubectl, and what its errors mean
//	pod.go      what a pod has
//	session.go  one run of cpprof, as seen from here
//	stream.go   what comes out of the container
//	inside.go   the same program, in the container
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/spf13/pflag"
)

// inside is the first argument in the container.
const inside = "inside"

// imageVar names the image in the environment.
const imageVar = "CPPROF_IMAGE"

const help = `kubectl cpprof runs cpprof on a Go program in a pod, and brings the recording here.

It adds a container to the pod that shares the processes of the program's container, and has
the capabilities SYS_PTRACE and DAC_OVERRIDE. The pod and its programs go on. Kubernetes
removes no such container from a pod: it ends, and stays in the pod's description.

Usage:
  kubectl cpprof why POD [flags] [-- FLAGS]      what is slow, and why
  kubectl cpprof stuck POD [flags] [-- FLAGS]    what waits for good
  kubectl cpprof record POD [flags] [-- FLAGS]   until Ctrl-C, or for the time after -d

FLAGS are any flags of 'cpprof COMMAND', such as --json.

Examples:
  kubectl cpprof why api-7d9f -c server --image registry.example.com/cpprof:v0.1.0
  kubectl cpprof record api-7d9f -d 30s -o api.cpprof && cpprof api.cpprof

Flags:
`

// A request is one command line.
type request struct {
	command, pod string
	container    string
	process      string
	image        string
	duration     time.Duration
	output       string
	rest         []string // for cpprof
	global       []string // for each kubectl
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == inside {
		os.Exit(runInside(os.Args[2], os.Args[3:]))
	}
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	status, err := run(os.Args[1:], os.Stdout, os.Stderr, stop)
	if err != nil {
		termtext.Fprintf(os.Stderr, "kubectl cpprof: %v\n", err)
	}
	os.Exit(status)
}

// run executes a command line. It returns the status to end with.
func run(args []string, out, errors io.Writer, stop <-chan os.Signal) (int, error) {
	r, err := parse(args, out)
	if err != nil {
		return 2, err
	}
	if r == nil {
		return 0, nil
	}
	k, err := findKubectl(r.global)
	if err != nil {
		return 1, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &session{request: r, kubectl: k, out: out, err: errors, stop: stop}
	status, err := s.run(ctx)
	if err != nil {
		return 1, err
	}
	return status, nil
}

// commands lists what can be run in a pod.
var commands = []string{"why", "stuck", "record"}

// parse reads a command line. It returns nil if it has shown the help.
func parse(args []string, out io.Writer) (*request, error) {
	r := &request{}
	flags := pflag.NewFlagSet("kubectl cpprof", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.SortFlags = false
	flags.StringVarP(&r.container, "container", "c", "", "the `CONTAINER` of the program")
	namespace := flags.StringP("namespace", "n", "", "the pod's `NAMESPACE`")
	flags.StringVar(&r.image, "image", os.Getenv(imageVar),
		"the `IMAGE` of cpprof; $"+imageVar+" names it, too")
	flags.StringVarP(&r.process, "pid", "p", "",
		"the `PROCESS`, if the container has several Go programs: its pid there, or its name")
	flags.DurationVarP(&r.duration, "duration", "d", 0, "how long cpprof records, such as 10s")
	flags.StringVarP(&r.output, "output", "o", "", "the recording, a new `FOLDER`")
	config := flags.String("kubeconfig", "", "the `FILE` that says where the cluster is")
	cluster := flags.String("context", "", "the `CONTEXT` in that file")
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(out, help, flags.FlagUsagesWrapped(100))
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("%w; see 'kubectl cpprof --help'", err)
	}
	words := flags.Args()
	if at := flags.ArgsLenAtDash(); at >= 0 {
		words, r.rest = words[:at], words[at:]
	}
	if len(words) != 2 || !slices.Contains(commands, words[0]) {
		return nil, errors.New("want a command and a pod: kubectl cpprof why POD (or record, stuck); see 'kubectl cpprof --help'")
	}
	r.command, r.pod = words[0], strings.TrimPrefix(strings.TrimPrefix(words[1], "pods/"), "pod/")
	for name, value := range map[string]string{"namespace": *namespace, "kubeconfig": *config, "context": *cluster} {
		if value != "" {
			r.global = append(r.global, "--"+name+"="+value)
		}
	}
	return r, r.complete(flags.Changed("output"))
}

// complete checks what the flags say together.
func (r *request) complete(named bool) error {
	if r.image == "" {
		return fmt.Errorf("give the image of cpprof: --image registry.example.com/cpprof:v0.1.0, or $%s; a release has the image as a file, to load into your registry", imageVar)
	}
	if strings.HasPrefix(r.pod, "-") || strings.Contains(r.pod, "/") || r.pod == "" {
		return fmt.Errorf("%q is not the name of a pod: 'kubectl get pods' lists them", r.pod)
	}
	if r.duration < 0 {
		return fmt.Errorf("-d %v: want a time such as 10s", r.duration)
	}
	if slices.ContainsFunc(r.rest, isOutput) {
		return errors.New("-o names the recording here: give it before --")
	}
	if r.command == "stuck" {
		if named || r.duration > 0 {
			return errors.New("stuck makes no recording: -o and -d are for why and record")
		}
		return nil
	}
	if !named {
		r.output = r.pod + "-" + time.Now().Format("20060102-150405") + ".cpprof"
	}
	if _, err := os.Lstat(r.output); err == nil {
		return fmt.Errorf("%s exists: give a new name with -o", r.output)
	}
	return nil
}

// isOutput reports whether an argument of cpprof names its output.
func isOutput(arg string) bool {
	return strings.HasPrefix(arg, "-o") || strings.HasPrefix(arg, "--output")
}

// arguments returns what cpprof gets, but for the process.
func (r *request) arguments() []string {
	args := []string{r.command}
	if r.output != "" {
		args = append(args, "--output="+r.output)
	}
	if r.duration > 0 {
		args = append(args, "--duration="+r.duration.String())
	}
	return append(args, r.rest...)
}
