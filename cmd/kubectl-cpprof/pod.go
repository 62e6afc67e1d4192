package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
)

// A pod has what the plugin needs of a pod's description.
type pod struct {
	Metadata struct{ Annotations map[string]string }
	Spec     struct {
		Containers, InitContainers []struct{ Name string }
	}
	Status struct {
		Phase                                                                string
		ContainerStatuses, InitContainerStatuses, EphemeralContainerStatuses []containerStatus
	}
}

type containerStatus struct {
	Name  string
	State struct {
		Running    *struct{}
		Waiting    *reason
		Terminated *reason
	}
}

// A reason says why a container does not run.
type reason struct {
	Reason, Message string
	ExitCode        int
}

func (r *reason) String() string {
	text := cmp.Or(r.Reason, fmt.Sprintf("exit status %d", r.ExitCode))
	if r.Message != "" {
		text += ": " + strings.TrimSpace(r.Message)
	}
	return text
}

func parsePod(text []byte) (*pod, error) {
	p := &pod{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("kubectl get pod: what it prints is not a pod: %w", err)
	}
	return p, nil
}

// usual is the annotation by which kubectl chooses a container.
const usual = "kubectl.kubernetes.io/default-container"

// choose returns the container of the program. Its argument is
// what the user gave, if anything.
func (p *pod) choose(given string) (string, error) {
	names := lists.Each(p.Spec.Containers, func(c struct{ Name string }) string { return c.Name })
	name := given
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	name = cmp.Or(name, p.Metadata.Annotations[usual])
	if name == "" {
		return "", fmt.Errorf("the pod has %d containers: give one with -c: %s", len(names), strings.Join(names, ", "))
	}
	for _, c := range p.Spec.InitContainers { // it may be one that keeps running
		names = append(names, c.Name)
	}
	if !slices.Contains(names, name) {
		return "", fmt.Errorf("the pod has no container %s: it has %s", name, strings.Join(names, ", "))
	}
	s := find(slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses), name)
	switch {
	case s == nil:
		return "", fmt.Errorf("container %s has not started: the pod is %s", name, p.Status.Phase)
	case s.State.Running != nil:
		return name, nil
	case s.State.Waiting != nil:
		return "", fmt.Errorf("container %s does not run: %v", name, s.State.Waiting)
	case s.State.Terminated != nil:
		return "", fmt.Errorf("container %s has ended: %v", name, s.State.Terminated)
	}
	return "", fmt.Errorf("container %s does not run", name)
}

// find returns the status of a container, or nil.
func find(list []containerStatus, name string) *containerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
