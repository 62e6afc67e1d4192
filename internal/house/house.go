// Package house holds the tests that keep the project in order: which package may import which, and that
// generated files are what their generators make.
package house
