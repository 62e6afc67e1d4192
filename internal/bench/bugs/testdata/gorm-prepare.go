package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"
)

// Two of eight goroutines send a new text each time. Lists and names of tables
// make such texts.
func main() {
	pool := sql.OpenDB(database(elsewhere(accept(serve))))
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	db, err := gorm.Open(tests.DummyDialector{},
		&gorm.Config{ConnPool: pool, PrepareStmt: true, Logger: logger.Discard})
	check(err)
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{})
	var texts atomic.Int64
	run := func(text string) { check(db.Exec(text).Error) }
	fresh := func() { run(fmt.Sprint("UPDATE users SET seen = 1 -- ", texts.Add(1))) }
	same := func() { run("UPDATE users SET seen = 1") }
	workers(time.Millisecond, slices.Repeat([]func(){fresh, same, same, same}, 2)...)
}

// serve prepares a statement in 5 ms, and executes one in 1 ms.
func serve(c net.Conn) {
	for b := []byte{0}; ; c.Write(b) {
		if _, err := c.Read(b); err != nil {
			return
		}
		if b[0] == 'p' {
			time.Sleep(4 * time.Millisecond)
		}
		time.Sleep(time.Millisecond)
	}
}

type database string

func (d database) Driver() driver.Driver { return nil }

func (d database) Connect(context.Context) (driver.Conn, error) {
	c, err := net.Dial("tcp", string(d))
	return &conn{c}, err
}

type conn struct{ net.Conn }

func (c *conn) ask(what byte) error {
	_, err := c.Write([]byte{what})
	check(err)
	_, err = c.Read([]byte{0})
	return err
}

func (c *conn) Prepare(string) (driver.Stmt, error) { return stmt{c}, c.ask('p') }
func (c *conn) Begin() (driver.Tx, error)           { return tx{}, nil }

type tx struct{}

func (tx) Commit() error   { return nil }
func (tx) Rollback() error { return nil }

type stmt struct{ *conn }

func (stmt) Close() error  { return nil }
func (stmt) NumInput() int { return -1 }

func (s stmt) Exec([]driver.Value) (driver.Result, error) {
	return driver.RowsAffected(1), s.ask('e')
}

func (s stmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }
