package sampledata

// The fields of each kind of line, in the order in which they are written.

// headerFields have a line each.
func headerFields(h *Header) []field {
	return []field{
		arg("executable", (*plain)(&h.Executable)), arg("pid", whole(&h.PID)),
		arg("container", (*plain)(&h.Container)),
		arg("go", (*plain)(&h.GoVersion)), arg("os", (*plain)(&h.OS)),
		arg("arch", (*plain)(&h.Arch)), arg("gomaxprocs", whole(&h.GOMAXPROCS)), arg("start", (*moment)(&h.Start)),
		arg("clock", (*plain)(&h.Clock)),
	}
}

func samplerFields(s *Settings) []field {
	return []field{
		key("version", (*plain)(&s.Version)), key("backend", (*plain)(&s.Backend)),
		key("rate", (*decimal)(&s.RateHz)), key("jitter", (*decimal)(&s.Jitter)),
		key("max-overhead", (*decimal)(&s.MaxOverhead)), key("max-cpu", (*decimal)(&s.MaxCPU)),
		key("wakes", (*plain)(&s.Wakes)),
	}
}

func functionFields(f *Function, z *sizes) []field {
	return []field{
		define("f", z.functions), arg("a name", (*plain)(&f.Name)),
		key("file", (*plain)(&f.File)), key("line", whole(&f.Line)),
	}
}

func nodeFields(n *Node, z *sizes) []field {
	return []field{
		define("n", z.nodes),
		arg("a function", reference[FunctionID]{&n.Function, "f", z.functions, -1}),
		key("under", reference[NodeID]{&n.Parent, "n", z.nodes, NoStack}),
		key("line", whole(&n.Line)), flag("inlined", &n.Inlined),
	}
}

func goroutineFields(g *Goroutine, z *sizes) []field {
	return []field{
		define("g", z.goroutines), arg("the target's number of the goroutine", whole(&g.ID)),
		key("start", reference[FunctionID]{&g.Start, "f", z.functions, -1}),
		key("site", (*plain)(&g.Site.Function)), key("site-file", (*plain)(&g.Site.File)),
		key("site-line", whole(&g.Site.Line)), key("parent", whole(&g.Parent)),
		flag("system", &g.System), flag("gc", &g.GC),
	}
}

func lockNameFields(n *LockName, _ *sizes) []field {
	return []field{
		arg("an address", (*address)(&n.Address)), arg("a name", (*plain)(&n.Name)),
		key("from", whole(&n.First)), key("capacity", whole(&n.Capacity)),
	}
}

func monitorFields(m *Monitor, next int) []field {
	return []field{
		define("m", next), arg("a name", (*plain)(&m.Name)),
		arg("a kind", oneOf(&m.Kind, "kind", kindNames)),
		key("layer", oneOf(&m.Layer, "layer", layerNames)), flag("real", &m.Real),
		key("unit", (*plain)(&m.Unit)), key("source", (*plain)(&m.Source)),
		key("resolution", (*plain)(&m.Resolution)), key("unmeasured", (*plain)(&m.Unmeasured)),
	}
}

func sampleFields(s *Sample, z *sizes) []field {
	return []field{
		arg("a time", (*period)(&s.Time)), key("halt", (*period)(&s.Halt)),
		key("processors", processors{&s.Processors, z.goroutines}),
		key("threads", whole(&s.Threads)), flag("stopped-world", &s.StoppedWorld),
		flag("collecting", &s.Collecting), key("missed", whole(&s.Missed)),
		key("cpu", (*period)(&s.SamplerCPU)), key("reused", whole(&s.Reused)),
		key("rechecked", whole(&s.Rechecked)), key("wrong", whole(&s.Wrong)),
		key("lost-halt", (*period)(&s.LostHalt)), key("suspended", (*period)(&s.Suspended)),
		key("weight", (*period)(&s.Weight)),
	}
}

// stateFields keep the stack of a release apart from it.
func stateFields(s *State, release *NodeID, z *sizes) []field {
	return []field{
		arg("a state", oneOf(&s.Run, "state", runStateNames)),
		arg("a stack", orNone[NodeID]{reference[NodeID]{&s.Stack, "n", z.nodes, NoStack}}),
		key("reason", (*plain)(&s.Reason)), key("lock", (*address)(&s.Lock)),
		key("holders", reference[HolderSetID]{&s.Holders, "h", z.holderSets, 0}),
		key("evidence", oneOf(&s.Evidence, "evidence", evidenceNames)),
		key("release", reference[NodeID]{release, "n", z.nodes, NoStack}),
		key("labels", reference[LabelSetID]{&s.Labels, "l", z.labelSets, 0}),
		key("priority", whole(&s.Priority)), flag("no-cpu", &s.NoCPU), flag("torn", &s.Torn),
	}
}

func probeFields(p *Probe) []field {
	return []field{
		arg("a function", (*plain)(&p.Function)), key("file", (*plain)(&p.File)),
		key("line", whole(&p.Line)), key("by", oneOf(&p.Instrument, "instrument", instrumentNames)),
		key("why", (*plain)(&p.Why)), key("note", (*plain)(&p.Note)),
		key("from", (*period)(&p.From)), key("returns-up-to", (*period)(&p.ReturnsUpTo)),
		key("to", (*period)(&p.To)), key("calls", (*tally)(&p.Calls)), flag("taken-out", &p.TakenOut),
		key("returned", (*tally)(&p.Returned)), key("unfinished", (*tally)(&p.Unfinished)),
		key("lost", (*tally)(&p.Lost)), key("cost", (*period)(&p.Cost)),
		key("elapsed", &p.Elapsed),
	}
}

func siteFields(s *CallSite) []field {
	return []field{
		arg("a caller", (*plain)(&s.Caller)), key("file", (*plain)(&s.File)),
		key("line", whole(&s.Line)), key("calls", (*tally)(&s.Calls)), key("elapsed", &s.Elapsed),
	}
}

func argumentFields(a *Argument) []field {
	return []field{
		arg("a name", (*plain)(&a.Name)), arg("a kind", oneOf(&a.Kind, "kind", argumentNames)),
		key("values", &a.Values),
	}
}

func markingFields(m *Marking) []field {
	return []field{
		arg("a time", (*period)(&m.Time)), key("goroutines", whole(&m.Goroutines)),
		flag("proved", &m.Proved), flag("whole", &m.Whole), key("passes", whole(&m.Passes)),
		key("took", (*period)(&m.Took)), key("apart", (*period)(&m.Apart)),
		key("halted", (*period)(&m.Halted)), key("max-halt", (*period)(&m.MaxHalt)),
		key("heap", whole(&m.Heap)), key("needs-halt", (*period)(&m.NeedsHalt)),
		key("needs-memory", whole(&m.NeedsMemory)), key("doubt", (*plain)(&m.Doubt)),
	}
}

func groupFields(g *MarkedGroup) []field {
	return []field{
		arg("a verdict", oneOf(&g.Verdict, "verdict", verdictNames)),
		arg("what they wait for", oneOf(&g.Wait, "wait", waitNames)),
		key("count", whole(&g.Count)), key("ids", (*numbers)(&g.IDs)),
		key("reason", (*plain)(&g.Reason)), key("name", (*plain)(&g.Name)),
		key("doubt", (*plain)(&g.Doubt)),
		key("waited", (*period)(&g.Waited)), key("kept", whole(&g.Kept)),
	}
}

func callFields(c *Call) []field {
	return []field{
		arg("a function", (*plain)(&c.Function)), key("file", (*plain)(&c.File)),
		key("line", whole(&c.Line)),
	}
}

func edgeFields(e *MarkedEdge) []field {
	return []field{
		arg("a goroutine", whole(&e.From)), key("to", whole(&e.To)),
		key("at", (*address)(&e.At)), flag("sure", &e.Sure), key("taken", (*plain)(&e.Taken)),
	}
}

func warningFields(w *Warning) []field {
	return []field{
		arg("a kind", (*plain)(&w.Kind)), arg("a count", whole(&w.Count)),
		arg("a message", (*plain)(&w.Message)),
	}
}

func endFields(e *End, _ *sizes) []field {
	return []field{
		arg("a cause", oneOf(&e.Cause, "cause", endCauseNames)), key("time", (*period)(&e.Time)),
		key("status", whole(&e.ExitStatus)), key("detail", (*plain)(&e.Detail)),
		key("missed", whole(&e.Missed)), key("cpu", (*period)(&e.SamplerCPU)),
		key("lost-halt", (*period)(&e.LostHalt)),
	}
}
