package sampler

import (
	"slices"
	"strings"
	"testing"
)

func TestWithoutSecrets(t *testing.T) {
	for _, c := range []struct{ command, want []string }{
		{nil, []string{}},
		{[]string{"./token=abc", "-v"}, []string{"./token=abc", "-v"}},
		{[]string{"s", "--password=hunter2"}, []string{"s", "--password=***"}},
		{[]string{"s", "-password", "hunter2", "next"}, []string{"s", "-password", "***", "next"}},
		{[]string{"s", "--token", "-v", "x"}, []string{"s", "--token", "-v", "x"}},
		{[]string{"s", "--token", "-aB3x_9ZkQ81mmNcW0pQr7"}, []string{"s", "--token", "***"}},
		{[]string{"s", "--no-auth", "--password", "hunter2"}, []string{"s", "--no-auth", "--password", "***"}},
		{[]string{"s", "--auth", "PASSWORD=hunter2"}, []string{"s", "--auth", "PASSWORD=***"}},
		{[]string{"env", "PASSWORD=hunter2", "PGPASSWORD=a=b", "HOME=/root"}, []string{"env", "PASSWORD=***", "PGPASSWORD=***", "HOME=/root"}},
		{[]string{"s", "--dbPassword=a b", "--clientSecret=x", "-api-key=x", "--key=x", "-AWS_SECRET_ACCESS_KEY=x"},
			[]string{"s", "--dbPassword=***", "--clientSecret=***", "-api-key=***", "--key=***", "-AWS_SECRET_ACCESS_KEY=***"}},
		{[]string{"s", "--author=me", "--monkey=1", "--token-file=t", "--listen=:80", "--keyboard", "de"},
			[]string{"s", "--author=me", "--monkey=1", "--token-file=t", "--listen=:80", "--keyboard", "de"}},
		{[]string{"s", "postgres://me:hunter2@db/x?sslmode=no&token=t1&a=b"}, []string{"s", "postgres://me:***@db/x?sslmode=no&token=***&a=b"}},
		{[]string{"s", "--db=redis://:p@ss@db/0", "http://host:80/a@b"}, []string{"s", "--db=redis://:***@db/0", "http://host:80/a@b"}},
		{[]string{"s", "https://ghp_0123456789abcdef0123@github.com/x", "ssh://git@host/x"}, []string{"s", "https://***@github.com/x", "ssh://git@host/x"}},
		{[]string{"s", "me:hunter2@tcp(db:3306)/x"}, []string{"s", "me:***@tcp(db:3306)/x"}},
		{[]string{"s", "host=db user=me password=hunter2 x=y"}, []string{"s", "host=db user=me password=*** x=y"}},
		{[]string{"s", "-H", "Authorization: Bearer abc def"}, []string{"s", "-H", "Authorization: ***"}},
		{[]string{"s", "Bearer abc"}, []string{"s", "Bearer ***"}},
		{[]string{"sh", "-c", "A=1 TOKEN=abc ./s --password hunter2 --listen :80"}, []string{"sh", "-c", "A=1 TOKEN=*** ./s --password *** --listen :80"}},
		{[]string{"sh", "-c", "TOKEN=abc ./s"}, []string{"sh", "-c", "TOKEN=***"}},
		{[]string{"s", `{"user":"me","password":"hunter2"}`}, []string{"s", `{"user":"me","password":***}`}},
		{[]string{"s", "-config", "password: hunter2"}, []string{"s", "-config", "password: ***"}},
	} {
		if got := WithoutSecrets(c.command); !slices.Equal(got, c.want) {
			t.Errorf("%q:\n%q, want\n%q", c.command, got, c.want)
		}
	}
}

func FuzzWithoutSecrets(f *testing.F) {
	f.Add("s\x00--password\x00hunter2")
	f.Add("s\x00{\"token\":\"a b\"}")
	f.Fuzz(func(t *testing.T, text string) {
		const secret = "hunter2"
		command := strings.Split(text, "\x00")
		if n := len(WithoutSecrets(command)); n != len(command) {
			t.Errorf("%q has %d words", text, n)
		}
		// Whatever is before it, the value of a flag that says
		// its name is left out.
		got := WithoutSecrets(append(command, "--password="+secret, "--token", secret))
		for _, word := range got[len(command):] {
			if strings.Contains(word, secret) {
				t.Errorf("%q is kept of %q", word, text)
			}
		}
	})
}
