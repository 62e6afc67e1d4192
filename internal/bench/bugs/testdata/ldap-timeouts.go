package main

import (
	"fmt"
	"net"
	"time"

	"github.com/go-ldap/ldap/v3"
)

func main() {
	address := elsewhere(accept(answer))
	crew(8, time.Millisecond, func(int) func() {
		c, err := ldap.Dial("tcp", address)
		check(err)
		c.SetTimeout(time.Minute)
		return func() { search(c) }
	})
}

func search(c *ldap.Conn) {
	_, err := c.Search(ldap.NewSearchRequest("dc=example", ldap.ScopeWholeSubtree,
		ldap.NeverDerefAliases, 0, 0, false, "(objectClass=person)", []string{"cn", "mail"}, nil))
	check(err)
}

// answer finds nothing in each search, which is short.
func answer(c net.Conn) {
	const done = "e\x07\x0a\x01\x00\x04\x00\x04\x00"
	each(c, func(request []byte) {
		id := request[2 : 4+request[3]] // as it is sent back
		fmt.Fprintf(c, "0%c%s%s", len(id)+len(done), id, done)
	})
}
