package lockname

import "testing"

func TestNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{fieldName("main.cache", ".mu"), "main.(*cache).mu"},
		{fieldName("net/http.Server", ".mu"), "net/http.(*Server).mu"},
		{fieldName("example.com/a.b/c.T", ".in.mu"), "example.com/a.b/c.(*T).in.mu"},
		{fieldName("main.box[example.com/x/y.T]", ".mu"), "main.(*box[example.com/x/y.T]).mu"},
		{fieldName("odd", ".mu"), "(*odd).mu"},
		{variableName("&mu", "main.run"), "mu in main.run"},
		{variableName("mu", "main.(*T).run.func1"), "mu in main.(*T).run"},
		{variableName("mu", "main.run.func2.1.gowrap3"), "mu in main.run"},
		{variableName("mu", "main.run-range1"), "mu in main.run"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}
