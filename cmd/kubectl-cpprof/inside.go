package main

// What the plugin does in the container: it holds the container,
// or runs cpprof in it.
const (
	roleHold = "hold"
	roleRun  = "run"
)

// anyProcess stands for the only Go program.
const anyProcess = "-"
