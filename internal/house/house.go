// Package house holds tests of the project as a whole: which
// package may import which, how long a function may be, and
// which words the texts avoid.
package house
