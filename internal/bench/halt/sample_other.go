//go:build !(linux && (amd64 || arm64))

package main

import "errors"

func sample(int, int) error {
	return errors.New("the snapshot backend is for linux/amd64 and linux/arm64")
}
