// Package edit measures how different two names are, for messages that
// suggest a similar name.
package edit

// Distance returns the smallest number of changes that turn a
// into b (optimal string alignment). A change inserts, deletes
// or replaces a byte, or swaps two neighbours: from "wroker" to
// "worker" it is 1. The time grows with the product of the
// lengths, so the caller must bound them.
func Distance(a, b string) int {
	last, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d = 1 + min(row[j], row[j+1], next[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, last[j-1]+1)
			}
			next[j+1] = d
		}
		last, row, next = row, next, last
	}
	return row[len(b)]
}

// longestName bounds the length of a word, and so the time that
// Nearest takes.
const longestName = 100

// Nearest returns the known word that is nearest to word, if its
// distance is 1 or 2, or "".
func Nearest(word string, known []string) string {
	best, least := "", 3
	if len(word) > longestName {
		return ""
	}
	for _, k := range known {
		if d := Distance(word, k); d < least && 2*d < len(k) {
			best, least = k, d
		}
	}
	return best
}
