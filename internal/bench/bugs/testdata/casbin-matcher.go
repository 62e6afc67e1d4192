package main

import (
	"time"

	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
)

const rules = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.obj == p.obj && r.act == p.act`

var enforcer *casbin.Enforcer

func main() {
	m, err := model.NewModelFromString(rules)
	check(err)
	enforcer, err = casbin.NewEnforcer(m)
	check(err)
	enforcer.AddPolicy("alice", "data", "read")
	work(2, 5*time.Millisecond, handle)
}

func handle() {
	for range 500 {
		_, err := enforcer.Enforce("alice", "data", "read")
		check(err)
	}
}
