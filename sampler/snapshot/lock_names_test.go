//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// printedLocks reads the output of the program locknames: the
// names of its locks by address.
func printedLocks(t *testing.T, p *fixture.Running) map[uint64]string {
	locks := make(map[uint64]string)
	for line := p.Line; line != "ready"; {
		address, name, _ := strings.Cut(line, " ")
		at := fixture.Must(strconv.ParseUint(address, 0, 64))(t)
		locks[at] = name
		next := fixture.Must(p.Out.ReadString('\n'))(t)
		line = strings.TrimSuffix(next, "\n")
	}
	return locks
}

// namesOf samples a program until as many locks have names as
// should, and a few times more. The machine may be very busy.
func namesOf(t *testing.T, pid, want int) map[uint64]string {
	b := attachTo(t, pid)
	builder := sampledata.NewBuilder(b.Header())
	names := make(map[uint64]string)
	for after, end := 0, time.Now().Add(2*time.Minute); after < 20 && time.Now().Before(end); {
		if _, err := b.Observe(context.Background(), builder, sampledata.Sample{Time: time.Since(b.Header().Start)}); err != nil {
			t.Log(err)
		}
		for _, n := range builder.Recording().LockNames {
			names[n.Address] = n.Name
		}
		if len(names) >= want {
			after++
		}
		time.Sleep(10 * time.Millisecond)
	}
	r := builder.Recording()
	fixture.Check(t, r.Check())
	if len(r.LockNames) != len(names) {
		t.Errorf("locks change their names: %v", r.LockNames)
	}
	return names
}

// checkLockNames checks that each kind of lock of the program
// locknames gets the name that its source has for it.
func checkLockNames(t *testing.T, path string) {
	t.Helper()
	p := fixture.Start(t, path)
	locks := printedLocks(t, p)
	want := 0
	for _, name := range locks {
		if name != "" && !strings.HasPrefix(name, "perhaps ") {
			want++
		}
	}
	names := namesOf(t, p.Pid(), want)
	for at, want := range locks {
		want, mayBeUnnamed := strings.CutPrefix(want, "perhaps ")
		if got := names[at]; got != want && !(mayBeUnnamed && got == "") {
			t.Errorf("the lock at %#x is called %q, want %q", at, got, want)
		}
	}
}

// Channels with buffers, and semaphores, have names, too: they
// bound something.
func TestChannelNames(t *testing.T) {
	b := attachTo(t, fixture.Start(t, fixture.Build(t, "limits")).Pid())
	builder := sampledata.NewBuilder(b.Header())
	want := map[string]int64{"main.(*limited).slots": 1, "main.everywhere": 3, "golang.org/x/sync/errgroup.(*Group).sem": 2, "main.(*gate).places": 2}
	for end := time.Now().Add(2 * time.Minute); len(want) > 0 && time.Now().Before(end); {
		if _, err := b.Observe(context.Background(), builder, sampledata.Sample{Time: time.Since(b.Header().Start)}); err != nil {
			t.Log(err)
		}
		for _, n := range builder.Recording().LockNames {
			if capacity, ok := want[n.Name]; ok && n.Capacity != capacity {
				t.Errorf("%+v, want a capacity of %d", n, capacity)
			}
			delete(want, n.Name)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(want) > 0 {
		t.Errorf("no names of %v: %v", want, builder.Recording().LockNames)
	}
}

func TestLockNames(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"-buildmode=pie"}} {
		t.Run(strings.Join(append(flags, "plain"), " "), func(t *testing.T) {
			checkLockNames(t, fixture.Build(t, "locknames", flags...))
		})
	}
}

// Code that is not optimised keeps the locks in other places.
// All packages are built again for it.
func TestLockNamesNotOptimisedLong(t *testing.T) {
	fixture.Long(t)
	checkLockNames(t, fixture.Build(t, "locknames", "-gcflags=all=-N -l"))
}

// Without debug information, names come from the symbols of variables.
func TestLockNamesBySymbols(t *testing.T) {
	t.Parallel()
	p := fixture.Start(t, fixture.Build(t, "locknames", "-ldflags=-w"))
	locks := printedLocks(t, p)
	names := namesOf(t, p.Pid(), 3)
	for at, want := range locks {
		switch got := names[at]; {
		case want == "main.single" && got == want:
		case strings.HasPrefix(want, "main.settings.") && strings.HasPrefix(got, "main.settings+"):
		case want != "main.single" && !strings.HasPrefix(want, "main.settings.") && got == "":
		default:
			t.Errorf("the lock at %#x, which is %q, is called %q", at, want, got)
		}
	}
}
