package holdertest

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Table is the table in which a running program records who holds which
// lock. A lock is recorded like this:
//
//	address of the lock             8 bytes
//	number of changes of the rest   8 bytes
//	ids of the goroutines           8 bytes each; 0 for none
type Table struct {
	memory *os.File
	addr   int64
	size   int      // of a record
	kinds  []string // of the locks
	parts  []int    // how many goroutines hold each while others wait; 0: not known
}

// Open opens the table of a process. line is the first line of the program's
// output: the address of the table, the size of a record, the number of
// records, and the kind of each lock. After a kind, ":2" says that two
// goroutines have the thing while others wait for it.
func Open(pid int, line string) (*Table, error) {
	t := &Table{}
	var n int
	if _, err := fmt.Sscanf(line, "0x%x %d %d", &t.addr, &t.size, &n); err != nil {
		return nil, fmt.Errorf("reading the program's first line %q: %w", line, err)
	}
	if t.kinds = strings.Fields(line)[3:]; len(t.kinds) != n || t.size < 16 {
		return nil, fmt.Errorf("the program's first line %q: want %d kinds of locks and records of 16 bytes or more", line, n)
	}
	t.parts = make([]int, n)
	for i, kind := range t.kinds {
		name, parts, counted := strings.Cut(kind, ":")
		if t.kinds[i] = name; !counted {
			continue
		}
		var err error
		if t.parts[i], err = strconv.Atoi(parts); err != nil {
			return nil, fmt.Errorf("the program's first line: how many have a %q: %w", kind, err)
		}
	}
	var err error
	t.memory, err = os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	return t, err
}

// Close closes the table.
func (t *Table) Close() error { return t.memory.Close() }

// A record is the program's record of one lock.
type record struct {
	lock, changes uint64
	holders       []int64 // goroutine ids in ascending order
}

// read returns the program's record of each lock.
func (t *Table) read() ([]record, error) {
	b := make([]byte, t.size*len(t.kinds))
	if _, err := t.memory.ReadAt(b, t.addr); err != nil {
		return nil, fmt.Errorf("reading the program's table of locks: %w", err)
	}
	var out []record
	for ; len(b) > 0; b = b[t.size:] {
		r := record{lock: binary.LittleEndian.Uint64(b), changes: binary.LittleEndian.Uint64(b[8:])}
		for at := 16; at+8 <= t.size; at += 8 {
			if g := int64(binary.LittleEndian.Uint64(b[at:])); g != 0 {
				r.holders = append(r.holders, g)
			}
		}
		slices.Sort(r.holders)
		out = append(out, r)
	}
	return out, nil
}

// isComplete reports whether a record has everyone who holds the lock. A
// goroutine that has just taken a part of a thing may not have recorded that
// yet; so may one that was started to have it, until it runs.
func (t *Table) isComplete(k int, r *record) bool {
	return len(r.holders) > 0 && (t.parts[k] == 0 || len(r.holders) == t.parts[k])
}
