package main

import "sync"

// There is one waiting function for each group, so that its name shows which group it waits for.

func waitCaptured(wg *sync.WaitGroup)  { wg.Wait() }
func waitParameter(wg *sync.WaitGroup) { wg.Wait() }
func waitLast(wg *sync.WaitGroup)      { wg.Wait() }
func waitClosure(wg *sync.WaitGroup)   { wg.Wait() }
func waitLoop(wg *sync.WaitGroup)      { wg.Wait() }
func waitList(wg *sync.WaitGroup)      { wg.Wait() }
func waitHelper(wg *sync.WaitGroup)    { wg.Wait() }
func waitComputing(wg *sync.WaitGroup) { wg.Wait() }
func waitField(j *job)                 { j.wg.Wait() }
func waitGlobal()                      { everybody.Wait() }
func waitGo(wg *sync.WaitGroup)        { wg.Wait() }
func waitSome(wg *sync.WaitGroup)      { wg.Wait() }

func startCaptured() {
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
	}
	go waitCaptured(&wg)
}

func parameter(wg *sync.WaitGroup) {
	defer wg.Done()
	work()
}

// last calls Done at its end, without defer.
func last(wg *sync.WaitGroup) {
	work()
	wg.Done()
}

func closure(wg *sync.WaitGroup) {
	defer func() {
		recover()
		wg.Done()
	}()
	work()
}

// loop calls Add(-1) in each round.
func loop(wg *sync.WaitGroup) {
	for {
		work()
		wg.Add(-1)
	}
}

// list has a defer statement in a loop, for which the compiler generates other code.
func list(wg *sync.WaitGroup) {
	for i := 0; i < 1; i++ {
		defer wg.Done()
	}
	work()
}

//go:noinline
func done(wg *sync.WaitGroup) { wg.Done() }

func helper(wg *sync.WaitGroup) {
	work()
	done(wg)
}

var sum int

// computing never waits, and takes very long.
func computing(wg *sync.WaitGroup) {
	defer wg.Done()
	for i := 0; i < 1<<62; i++ {
		sum += i * i
	}
	keep(sum)
}

func startComputing() {
	wg := new(sync.WaitGroup)
	wg.Add(1)
	go computing(wg)
	go waitComputing(wg)
}

func (j *job) do() {
	defer j.wg.Done()
	work()
}

func startField() {
	j := &job{name: "field"}
	j.wg.Add(2)
	go j.do()
	go j.do()
	go waitField(j)
}

var everybody sync.WaitGroup

func global() {
	defer everybody.Done()
	work()
}

func startGlobal() {
	everybody.Add(2)
	go global()
	go global()
	go waitGlobal()
}

// was has already called Done, and doesn't end.
func was(wg *sync.WaitGroup) {
	wg.Done()
	work()
	keep(wg)
}

// adds starts other goroutines that end the wait; it does not end the wait itself.
func adds(wg *sync.WaitGroup) {
	wg.Add(1)
	go parameter(wg)
	work()
	wg.Add(1)
}

// other has another group of the same type.
func other(wg, own *sync.WaitGroup) {
	defer own.Done()
	work()
	keep(wg)
}

// startBystanders starts goroutines that all have the group in their frames. Only one of them can end the wait.
func startBystanders() {
	wg := new(sync.WaitGroup)
	wg.Add(1)
	go was(wg)
	go adds(wg)
	go other(wg, new(sync.WaitGroup))
	go waitSome(wg)
}
