package memory

// An Arena hands out pieces of a few large buffers that it keeps
// from sample to sample. The pages of these buffers are already
// mapped, so that a copy during a halt never waits for the
// kernel to supply a page.
type Arena struct {
	blocks [][]byte
	block  int // index of the block in use
	used   int // number of bytes used of that block
}

const arenaBlock = 1 << 20

// Reset makes the whole arena available again. Pieces from
// earlier calls of Get must not be used any more.
func (a *Arena) Reset() { a.block, a.used = 0, 0 }

// Get returns n bytes, aligned to 8. Their content is arbitrary.
func (a *Arena) Get(n int) []byte {
	for {
		if a.block == len(a.blocks) {
			a.blocks = append(a.blocks, prefault(max(arenaBlock, n)))
		}
		b := a.blocks[a.block]
		if a.used+n <= len(b) {
			piece := b[a.used : a.used+n : a.used+n]
			a.used += (n + 7) &^ 7
			a.used = min(a.used, len(b))
			return piece
		}
		a.block++
		a.used = 0
	}
}

// Reserve makes sure that the next n bytes can be handed out
// without a page fault.
func (a *Arena) Reserve(n int) {
	free := 0
	for i := a.block; i < len(a.blocks); i++ {
		free += len(a.blocks[i])
	}
	for free -= a.used; free < n; free += arenaBlock {
		a.blocks = append(a.blocks, prefault(arenaBlock))
	}
}

// Size returns the number of bytes that the arena holds.
func (a *Arena) Size() int {
	n := 0
	for _, b := range a.blocks {
		n += len(b)
	}
	return n
}

// Trim frees blocks beyond the first n bytes, after an unusually
// large sample.
func (a *Arena) Trim(n int) {
	for len(a.blocks) > a.block+1 && a.Size()-len(a.blocks[len(a.blocks)-1]) >= n {
		a.blocks[len(a.blocks)-1] = nil
		a.blocks = a.blocks[:len(a.blocks)-1]
	}
}

func prefault(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}
