//go:build linux

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/why/stuck"
)

// A cause is a fault, and the functions in which the goroutines
// at fault wait.
type cause struct {
	fault stuck.Fault
	at    []string // ends of names
}

func nobody(at ...string) cause    { return cause{stuck.NobodyLeft, at} }
func circle(at ...string) cause    { return cause{stuck.Circle, at} }
func itself(at ...string) cause    { return cause{stuck.Itself, at} }
func recursive(at ...string) cause { return cause{stuck.Recursive, at} }
func gone(at ...string) cause      { return cause{stuck.HolderGone, at} }

// causes has the cause of each kernel, from its source and
// GoBench's description. Some kernels end in one of several
// ways.
var causes = map[string][]cause{
	"Cockroach10214": {circle("reportUnreachable", "maybeCoalesceHeartbeat")},
	"Cockroach1055":  {nobody("Stop"), nobody("Quiesce"), circle("Stop", "StartTask")},
	"Cockroach10790": {nobody("beginCmds.func1")},
	"Cockroach13197": {nobody("awaitDone")},
	"Cockroach13755": {nobody("awaitDone")},
	"Cockroach1462":  {nobody("start.func1")},
	"Cockroach16167": {recursive("getDatabaseCache", "updateSystemConfig")},
	"Cockroach18101": {nobody("splitAndScatter")},
	"Cockroach2448":  {circle("handleWriteResponse.func1", "sendEvent")},
	"Cockroach24808": {nobody("Start")},
	"Cockroach25456": {nobody("process")},
	"Cockroach35073": {nobody("Push")},
	"Cockroach35931": {nobody("Push")},
	"Cockroach3710":  {recursive("RaftStatus", "processRaft.func1")},
	"Cockroach584":   {itself("manage"), gone("manage")},
	"Cockroach6181":  {recursive("String", "LookupRangeDescriptor")},
	"Cockroach7504":  {circle("get", "remove")},
	"Cockroach9935":  {itself("exit")},
	"Etcd10492":      {itself("Checkpoint")},
	"Etcd5509":       {gone("Close")},
	"Etcd6708":       {itself("Do")},
	"Etcd6857":       {nobody("Status")},
	"Etcd6873":       {circle("coalesce", "stop")},
	"Etcd7492":       {circle("newDeleterFunc.func1", "addSimpleToken")},
	"Etcd7902":       {circle("doRounds.func1", "runElectionFunc.func4")},
	"Grpc1275":       {nobody("Read")},
	"Grpc1424":       {nobody("DialContext.func1")},
	"Grpc1460":       {circle("keepalive", "NewStream")},
	"Grpc3017": {gone("NewSubConn", "RemoveSubConn.func1"), gone("RemoveSubConn", "RemoveSubConn.func1"),
		gone("NewSubConn"), gone("RemoveSubConn.func1"), gone("RemoveSubConn")}, // who waits for the lock, differs
	"Grpc660":         {nobody("doCloseLoopUnary.func1")},
	"Grpc795":         {itself("GracefulStop")},
	"Grpc862":         {nobody("resetTransport")},
	"Hugo3251":        {circle("URLLock", "URLUnlock")},
	"Hugo5379":        {itself("initPlain.func1"), circle("initPlain.func1", "initPlain")},
	"Istio16224":      {circle("Istio16224.func2", "Istio16224.func2.1")},
	"Istio17860":      {nobody("runWait")},
	"Istio18454":      {nobody("startTimer.func1")},
	"Kubernetes10182": {circle("DeletePodStatus", "SetPodStatus")},
	"Kubernetes11298": {nobody("serviceLoop.func1")},
	"Kubernetes13135": {circle("Replace", "processEvent")},
	"Kubernetes1321":  {circle("distribute", "stopWatching")},
	"Kubernetes25331": {nobody("run")},
	"Kubernetes26980": {circle("Kubernetes26980.func2", "Kubernetes26980.func2.1", "pop")},
	"Kubernetes30872": {circle("addCluster", "HasSynced")},
	"Kubernetes38669": {nobody("sendWatchCacheEvent")},
	"Kubernetes5316":  {nobody("finishRequest.func1")},
	"Kubernetes58107": {nobody("Get")},
	"Kubernetes62464": {recursive("GetCPUSet", "SetDefaultCPUSet"), recursive("GetDefaultCPUSet", "SetDefaultCPUSet")},
	// GoBench says a circle. But monitor would close the
	// channel, and never receive from it
	"Kubernetes6632":  {circle("monitor", "WriteFrame"), nobody("WriteFrame")},
	"Kubernetes70277": {itself("Kubernetes70277.func2")},
	"Moby17176":       {gone("testDevmapperLockReleasedDeviceDeletion.func1")},
	"Moby21233":       {nobody("WriteProgress")},
	"Moby25348":       {nobody("init")},
	"Moby27782":       {nobody("Remove")},
	"Moby28462":       {circle("CloseMonitorChannel", "handleProbeResult")},
	"Moby30408":       {nobody("waitActive")},
	"Moby33781":       {nobody("monitor.func1")},
	"Moby36114":       {itself("hotRemoveVHDsAtStart")},
	"Moby4951":        {circle("DeleteDevice", "removeDeviceAndWait")},
	"Moby7559":        {itself("Run")},
	"Serving2137":     {circle("unlock", "Maybe", "func1.1")},
	"Syncthing4829":   {itself("notify")},
	"Syncthing5795":   {itself("Close.func1")},
}

// isRight reports whether the largest finding of a kernel has its cause.
func isRight(kernel string, a *stuck.Answer) bool {
	if len(a.Findings) == 0 {
		return false
	}
	f := a.Findings[0]
	return slices.ContainsFunc(causes[kernel], func(c cause) bool {
		met := map[string]bool{}
		for _, g := range f.Groups {
			met[placeOf(g)] = true
		}
		return f.Fault == c.fault && len(met) == len(c.at) && !slices.ContainsFunc(c.at, func(end string) bool {
			for name := range met {
				if name == end || strings.HasSuffix(name, "."+end) {
					return false
				}
			}
			return true
		})
	})
}

// printCauses prints the findings of one program.
func printCauses(a *stuck.Answer) {
	for _, f := range a.Findings {
		fmt.Printf("    %-14s %4d goroutines, sure %v:", f.Fault, f.Count, f.Sure)
		for i, g := range f.Groups {
			fmt.Printf("  %d %s [%s] %s", g.Count, placeOf(g), g.Reason, f.Lock[i])
			if f.Taken[i] != "" {
				fmt.Printf(", holds a lock since %s", f.Taken[i])
			}
		}
		for _, g := range f.Behind {
			fmt.Printf(" | %d %s [%s]", g.Count, placeOf(g), g.Reason)
		}
		fmt.Println()
	}
}

var suffix = regexp.MustCompile(`_[a-z]+[0-9]{3,}`)

// placeOf returns the innermost function of the program in which
// a group waits, without the name of the kernel that the
// functions' names end with.
func placeOf(g *sampledata.MarkedGroup) string {
	for _, f := range g.Calls {
		if name, ok := strings.CutPrefix(f.Function, "main."); ok {
			return suffix.ReplaceAllString(name, "")
		}
	}
	return "?"
}
