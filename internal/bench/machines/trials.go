//go:build linux

package main

const module = "github.com/cpprof/cpprof/"

// cpprof and planted are on all machines.
var (
	cpprof  = build{name: "cpprof", args: []string{"build", "-ldflags=-s -w", module + "cmd/cpprof"}}
	planted = fixture("planted")
)

func fixture(name string) build {
	return build{name: name, args: []string{"build", module + "testdata/programs/" + name}}
}

// built is a program that another Go builds.
func built(by, name string) build {
	return build{name: by + "-" + name, by: by, args: []string{"build", "testdata/programs/" + name}}
}

var all = []*machine{
	{arch: "arm64", program: "qemu-system-aarch64", pkg: "qemu-system-arm", console: "ttyAMA0", options: []string{"-M", "virt"},
		cpu: "max,pauth-impdef=on", // to emulate the usual signatures of pointers takes half of the time
		builds: []build{cpprof, planted, fixture("holders"), fixture("limits"), fixture("groups"),
			{name: "target", args: []string{"build", module + "sampler/snapshot/testdata/target"}},
			{name: "zoo", args: []string{"build", module + "internal/bench/holders"}},
			{name: "snapshot.test", args: []string{"test", "-c", module + "sampler/snapshot"}},
			built("go1.21.13", "holders"), built("go1.27.4", "holders")},
		trials: armTrials},
	{arch: "amd64", program: "qemu-system-x86_64", pkg: "qemu-system-x86", console: "ttyS0", options: []string{"-M", "q35"}, cpu: "max",
		builds: []build{cpprof, planted, {name: "within", args: []string{"build", module + "internal/bench/machines/within"}}},
		trials: amdTrials},
}

const goesOn = "^the target goes on$"

// armTrials are what depends on the processor.
var armTrials = []trial{
	{name: "why: a lock's holder",
		script: `begin planted lock; cpprof why -p $pid -d 30s; goes_on`,
		prints: []string{`^ 1\. go:main.handler .*waiting`, `go:main.flusher holds it, in main.\(\*journal\).flush`, goesOn}},
	{name: "why: retries",
		script: `begin planted retry; cpprof why -p $pid -d 30s $slow; goes_on`,
		prints: []string{`^ 1\. `, `main.\(\*cluster\).acquireSocket`, goesOn}},
	{name: "why: stuck goroutines",
		script: `begin planted leak; cpprof why -p $pid -d 20s --max-halt 4s $slow; goes_on`,
		prints: []string{`main.answer`, `stuck for good`, goesOn}},
	{name: "tests of the sampler",
		script: `cd /src/sampler/snapshot; t() { snapshot.test -test.v -test.run '^(TestStates|TestRunning|TestKilled|TestRefused|TestDeletedBinary)$'; }; t || t`,
		prints: []string{"^--- PASS: TestStates", "^--- PASS: TestRunning", "^--- PASS: TestKilled", "^--- PASS: TestDeletedBinary", "^PASS"}},
	{name: "holders: the zoo",
		script: `zoo zoo -still -samples 1000 -interval 1ms; echo status $?`,
		prints: []string{"^inferred: ([0-9]+) of ", "^limits fooling", "^status 0"}},
	{name: "holders: Go 1.21",
		script: `with=go1.21.13- zoo zoo -still -samples 400 -interval 1ms holders; echo status $?`,
		prints: []string{"^inferred: ([0-9]+) of ", "^status 0"}},
	{name: "holders: Go 1.27",
		script: `with=go1.27.4- zoo zoo -still -samples 400 -interval 1ms holders; echo status $?`,
		prints: []string{"^inferred: ([0-9]+) of ", "^status 0"}},
	{name: "kill -9 and Ctrl-Z",
		script: `begin planted lock
for i in 1 2 3; do
	cpprof record -o r$i -p $pid & me=$!
	until [ -s r$i/SampleData ]; do sleep 0.1; done
	sleep 0.$i; kill -9 $me; goes_on
done
cpprof record -o z -p $pid & me=$!
until [ -s z/SampleData ]; do sleep 0.1; done
kill -TSTP $me; sleep 2; grep State /proc/$me/status; goes_on
kill -CONT $me; sleep 1; kill -TERM $me; wait $me; cpprof info z; goes_on`,
		prints: []string{`^State:\s*T`, `^samples`, `(?s)(` + goesOn + `.*){5}`}},
	// Between two flushes nobody holds the lock, so a dump may
	// have to be repeated.
	{name: "core dump",
		script: `echo core >/proc/sys/kernel/core_pattern; ulimit -c unlimited; export GOTRACEBACK=crash
for i in 1 2 3 4; do
	rm -f core*; begin planted lock; sleep 1; kill -ABRT $pid; wait
	cpprof dump-goroutines core* --program /bin/planted | head -20 | tee dump
	if grep -q 'held by' dump; then break; fi
done`,
		prints: []string{`8 blocked: sync.Mutex.Lock`, `held by goroutine [0-9]+ \(inferred\)`}},
}

// amdTrials are what depends on the kernel, and on rights.
var amdTrials = []trial{
	{name: "root",
		script: `begin planted lock; cpprof why -p $pid -d 30s $slow; goes_on`,
		prints: []string{`go:main.flusher holds it, in main.\(\*journal\).flush`, goesOn}},
	{name: "a user's own program",
		script: `begin as nobody planted lock; as nobody cpprof why -p $pid -d 30s $slow; goes_on`,
		prints: []string{`go:main.flusher holds it`, goesOn}},
	{name: "another user's program",
		script: `begin as other planted lock; as nobody cpprof record -p $pid -d 1s; goes_on`,
		prints: []string{`permission denied: the process belongs to user 1000`, goesOn}},
	{name: "root without capabilities",
		script: `begin planted lock; within -bare cpprof record -p $pid -d 1s; goes_on`,
		prints: []string{`permission denied: cpprof is root without CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH`, goesOn}},
	{name: "yama 1",
		script: `echo 1 >/proc/sys/kernel/yama/ptrace_scope
begin as nobody planted lock; as nobody cpprof record -p $pid -d 1s; goes_on
as nobody cpprof record -d 2s -o own -- planted lock; as nobody cpprof info own; echo 0 >/proc/sys/kernel/yama/ptrace_scope`,
		prints: []string{`ptrace_scope is 1\): .*or launch the program`, goesOn, `^samples`}},
	{name: "yama 2",
		script: `echo 2 >/proc/sys/kernel/yama/ptrace_scope
as nobody cpprof record -d 2s -o own -- planted lock; echo status $?; pid=$(pidof planted); goes_on; echo 0 >/proc/sys/kernel/yama/ptrace_scope`,
		prints: []string{`ptrace_scope is 2\): sudo sysctl .*ep \$\(which cpprof\)\)$`, "^status 1", goesOn}},
	{name: "cpu.max",
		script: `g=/sys/fs/cgroup/limited; mkdir $g; echo '20000 100000' >$g/cpu.max
begin planted runnable; echo $pid >$g/cgroup.procs; cpprof why -p $pid -d 30s $slow; goes_on`,
		prints: []string{`its limit is 0.2 CPUs`, goesOn}},
	{name: "64 MB for cpprof",
		script: `g=/sys/fs/cgroup/small; mkdir $g; echo 64M >$g/memory.max
begin planted lock; sh -c 'echo $$ >/sys/fs/cgroup/small/cgroup.procs; exec cpprof record -o r -d 3s -p '$pid; cpprof info r; goes_on`,
		prints: []string{`^samples`, goesOn}},
	{name: "hidepid",
		script: `begin as other planted lock; theirs=$pid; mount -o remount,hidepid=2 /proc
as nobody cpprof record -p $theirs -d 1s; begin as nobody planted lock; as nobody cpprof record -o r -d 3s -p $pid
mount -o remount,hidepid=0 /proc; goes_on`,
		prints: []string{`no such process`, goesOn, `recorded [0-9]+ sample`}},
	{name: "user and pid namespaces",
		script: `begin unshare -Upf --mount-proc sh -c 'planted lock & sleep 1; echo; wait'
cpprof record -d 3s -o r -p $pid; goes_on
unshare -Urpf --mount-proc sh -c 'planted lock & sleep 2; cpprof why -d 30s -p planted '"$slow"`,
		prints: []string{`recorded [0-9]+ sample`, goesOn, `go:main.flusher holds it`}},
	{name: "read-only /proc",
		script: `begin planted lock; unshare -m sh -c 'mount -o remount,ro /proc; cpprof why -d 30s -p '"$pid $slow"; goes_on`,
		prints: []string{`go:main.flusher holds it`, goesOn}},
	{name: "setuid",
		script: `cp /bin/planted .; chown 1000 planted; chmod 4755 planted; begin as nobody $PWD/planted lock
as nobody cpprof record -p $pid -d 1s; goes_on; cpprof record -p $pid -d 3s -o r`,
		prints: []string{`has the rights of user 1000, too \(setuid\)`, goesOn, `recorded [0-9]+ sample`}},
	{name: "the clock jumps",
		script: `begin planted lock; cpprof record -d 4s -o r -p $pid & me=$!; sleep 2; date -s @$(($(date +%s) + 3600))
sleep 1; date -s @$(($(date +%s) - 7200)); wait $me; cpprof info r; cpprof why r; goes_on`,
		prints: []string{`^recorded    [45]\.. s`, `^samples`, goesOn}},
	{name: "seccomp",
		script: `begin planted lock; for call in process_vm_readv ptrace; do within -deny $call cpprof record -d 1s -p $pid; goes_on; done
within -deny perf_event_open,bpf cpprof record -d 3s -p $pid`,
		prints: []string{`(?s)(a sandbox around cpprof \(seccomp\).*` + goesOn + `.*){2}recorded [0-9]+ sample`}},
}
