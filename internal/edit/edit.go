// Package edit measures how far a name is from another, for messages that say which one may have been meant.
package edit

// Distance is the number of bytes to insert, delete, replace or swap with their neighbour to make a into b
// (optimal string alignment). Its time is the product of the lengths, which the caller bounds.
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

// longestName bounds the time that Nearest takes for what a person typed.
const longestName = 100

// Nearest returns the one of the known words that differs from word by a slip or two, or "".
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
