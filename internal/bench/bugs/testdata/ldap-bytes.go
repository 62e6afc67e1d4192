package main

import (
	"bytes"
	"fmt"
	"net"
	"time"

	"github.com/go-ldap/ldap/v3"
)

const entries = 100

func main() {
	address := elsewhere(accept(answer))
	crew(8, time.Millisecond, func(int) func() {
		c, err := ldap.Dial("tcp", address)
		check(err)
		return func() { search(c) }
	})
}

func search(c *ldap.Conn) {
	found, err := c.Search(ldap.NewSearchRequest("dc=example", ldap.ScopeWholeSubtree,
		ldap.NeverDerefAliases, 0, 0, false, "(objectClass=person)", []string{"cn", "mail"}, nil))
	check(err)
	if len(found.Entries) != entries {
		panic(found.Entries)
	}
}

// answer answers each search, which is short, with entries.
func answer(c net.Conn) {
	each(c, func(request []byte) {
		id := request[2 : 4+request[3]] // as it is sent back
		var all bytes.Buffer
		for range entries {
			message(&all, id, "d\x2d\x04\x11uid=u1,dc=example0\x18"+
				"0\x08\x04\x02cn1\x02\x04\x000\x0c\x04\x04mail1\x04\x04\x02me")
		}
		message(&all, id, "e\x07\x0a\x01\x00\x04\x00\x04\x00") // done
		c.Write(all.Bytes())
	})
}

func message(to *bytes.Buffer, id []byte, what string) {
	fmt.Fprintf(to, "0%c%s%s", len(id)+len(what), id, what)
}
