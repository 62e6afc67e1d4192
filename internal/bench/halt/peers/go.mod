module github.com/cpprof/cpprof/internal/bench/halt/peers

go 1.26.0

require (
	github.com/felixge/fgprof v0.9.5
	github.com/go-delve/delve v1.27.2
)

require (
	github.com/cilium/ebpf v0.22.0 // indirect
	github.com/google/pprof v0.0.0-20240227163752-401108e1b7e7 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	golang.org/x/arch v0.28.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/telemetry v0.0.0-20241106142447-58a1122356f5 // indirect
)
