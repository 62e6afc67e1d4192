// Package lists makes lists of other lists.
package lists

// Each returns what a function makes of each value of a list.
func Each[T, U any](list []T, of func(T) U) []U {
	made := make([]U, len(list))
	for i, value := range list {
		made[i] = of(value)
	}
	return made
}
