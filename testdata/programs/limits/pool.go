package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"unsafe"
)

// A fake is a driver of which each operation takes a while.
type fake struct{}

type fakeConn struct{ fake }

func (fake) Connect(context.Context) (driver.Conn, error) { return &fakeConn{}, nil }
func (f fake) Driver() driver.Driver                      { return f }
func (fake) Open(string) (driver.Conn, error)             { return &fakeConn{}, nil }

func (*fakeConn) Prepare(string) (driver.Stmt, error) { return fake{}, nil }
func (*fakeConn) Close() error                        { return nil }
func (*fakeConn) Begin() (driver.Tx, error)           { return fake{}, nil }

func (fake) Close() error    { return nil }
func (fake) NumInput() int   { return -1 }
func (fake) Commit() error   { return nil }
func (fake) Rollback() error { return nil }

func (fake) Exec([]driver.Value) (driver.Result, error) {
	r := executing
	use(r, goid())
	return driver.RowsAffected(1), nil
}

func (fake) Query([]driver.Value) (driver.Rows, error) { return fake{}, nil }
func (fake) Columns() []string                         { return []string{"n"} }
func (fake) Next([]driver.Value) error                 { return io.EOF }

// executing is the record of the pool that executes statements.
var executing *record

//go:noinline
func transact(db *sql.DB, r *record, me int64) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	use(r, me)
	return tx.Commit()
}

// startPool starts goroutines that wait for connections of pools.
func startPool() {
	execs := newPool()
	executing = add("sql-exec", 2, unsafe.Pointer(execs))
	contend(func(int64) { execs.Exec("x") })
	txs := newPool()
	r := add("sql-transaction", 2, unsafe.Pointer(txs))
	contend(func(me int64) { transact(txs, r, me) })
}

func newPool() *sql.DB {
	db := sql.OpenDB(fake{})
	db.SetMaxOpenConns(2)
	return db
}
