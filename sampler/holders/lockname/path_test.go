package lockname

import "testing"

func TestNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{fieldName("main.cache", ".mu"), "main.(*cache).mu"},
		{fieldName("net/http.Server", ".mu"), "net/http.(*Server).mu"},
		{fieldName("example.com/a.b/c.T", ".in.mu"), "example.com/a.b/c.(*T).in.mu"},
		{fieldName("main.box[example.com/x/y.T]", ".mu"), "main.(*box[...]).mu"},
		{fieldName("odd", ".mu"), "(*odd).mu"},
		{nameOf("&mu", "main.run").String(), "mu in main.run"},
		{nameOf("o", "main.(*T).run.func1").along(fieldPath{whole: ".m"}).String(), "o.m in main.(*T).run"},
		{nameOf("mu", "main.run.func2.1.gowrap3").String(), "mu in main.run"},
		{nameOf("mu", "main.run-range1").String(), "mu in main.run"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}
