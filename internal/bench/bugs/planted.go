//go:build linux

package main

import (
	"maps"
	"path/filepath"
	"slices"
)

const plantedFolder = "testdata/programs/planted"

// plantedEnd is how a planted program goes on once it is ready.
// Here it is observed instead.
const plantedEnd = "time.Sleep(5 * time.Minute)"

// plantedCauses are what a planted program does, and its healthy
// twin does not: functions and locks. Spin does the work of the
// function before it.
var plantedCauses = map[string][]string{
	"lock":       {"main.(*journal).flush", "main.(*journal).mu"},
	"queue":      {"main.(*queue).push"},
	"encoder":    {"main.(*feed).trace", "main.publisher"},
	"runnable":   {"main.burner", "main.spin"},
	"allocation": {"main.parse", "main.parser"},
	"pipeline":   {"main.transform", "main.spin"},
	"leak":       {"main.answer", "main.request", "main.dispatcher"},
	"pool":       {"main.(*pool).get"},
	"assist":     {"main.replace", "main.cacher"},
	"syscall":    {"main.logLine"},
	"straggler":  {"main.member", "main.merge", "main.spin"},
	"far":        {"main.asker"},
	"answers":    {"main.order", "main.browser"},
	"rare":       {"main.persist"},
	"writer":     {"main.write", "main.(*ledger).writer", "main.(*ledger).add"},
	"retry":      {"main.(*cluster).acquireSocket"},
	"retrylock":  {"main.(*retryLock).lockLoop", "main.(*retryLock).Lock"},
	"spin":       {"main.await"},
	"writers":    {"main.(*table).scan", "main.(*table).mu"},
	"log":        {"main.(*till).sell", "main.(*till).mu"},
	"timers":     {"main.next"},
	"defer":      {"main.visitAll", "main.leave"},
	"emptypool":  {"main.newBuffer", "main.formatter"},
	"finalizers": {"main.(*object).finalize"},
	"dns":        {"main.call", "main.caller"},
	"handshakes": {"main.dial", "main.customer"},
}

// planted returns the planted causes as bugs.
func planted() (all []bug) {
	for _, name := range slices.Sorted(maps.Keys(plantedCauses)) {
		all = append(all, bug{name: name, kind: "planted", before: "slow", causes: plantedCauses[name]})
	}
	return all
}

// files are the sources of the workload, and their names in its module.
func (g *bug) files() map[string]string {
	const folder = "internal/bench/bugs/testdata"
	files := map[string]string{filepath.Join(folder, "profile.go"): "profile.go"}
	if g.module != "" {
		files[filepath.Join(folder, g.name+".go")] = "main.go"
		return files
	}
	sources, _ := filepath.Glob(plantedFolder + "/*.go") // the pattern is good
	for _, file := range sources {
		files[file] = filepath.Base(file)
	}
	return files
}
