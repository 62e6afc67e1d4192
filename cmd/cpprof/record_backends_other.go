//go:build !(linux && (amd64 || arm64))

package main

import "github.com/cpprof/cpprof/sampler/delve"

const defaultBackend = delve.Name
