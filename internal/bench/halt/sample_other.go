//go:build !(linux && (amd64 || arm64))

package main

import "errors"

var errPlatform = errors.New("the snapshot backend is for linux/amd64 and linux/arm64")

func sample(int, int) error { return errPlatform }

func record(int, float64) error { return errPlatform }
