package views

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

func TestShortFiles(t *testing.T) {
	r := &sampledata.Recording{}
	for _, file := range []string{"/src/shop/main.go", "/src/shop/main.go", "/src/cart/main.go", `C:\src\queue.go`, "/a/x/y.go", "/b/x/y.go", "z.go", ""} {
		r.Functions = append(r.Functions, sampledata.Function{File: file})
	}
	r.Probes = []sampledata.Probe{{Sites: []sampledata.CallSite{{File: "/src/other/queue.go"}}}}
	short := ShortFiles(r)
	for file, want := range map[string]string{
		"/src/shop/main.go": "shop/main.go", "/src/cart/main.go": "cart/main.go", `C:\src\queue.go`: "src/queue.go",
		"/a/x/y.go": "a/x/y.go", "z.go": "z.go", "/other/file.go": "file.go", "": "",
	} {
		if got := short(file); got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
}
