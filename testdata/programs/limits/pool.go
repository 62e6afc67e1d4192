package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"os"
	"syscall"
	"unsafe"
)

// A fake is a driver whose operations take a while.
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
	executing = addParts("sql-exec", 2, unsafe.Pointer(execs))
	contend(func(int64) { execs.Exec("x") })
	txs := newPool()
	r := addParts("sql-transaction", 2, unsafe.Pointer(txs))
	contend(func(me int64) { transact(txs, r, me) })
}

// writeAlone has the lock for writing of a file while it works.
//
//go:noinline
func writeAlone(c syscall.RawConn, r *record, me int64) {
	c.Write(func(uintptr) bool {
		use(r, me)
		return true
	})
}

// startFile starts goroutines that wait for the lock of a pipe.
func startFile() {
	_, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	c, err := w.SyscallConn()
	if err != nil {
		panic(err)
	}
	r := addParts("file-write", 1, *(*unsafe.Pointer)(unsafe.Pointer(w))) // the first field of an os.File leads to the poll.FD
	contend(func(me int64) { writeAlone(c, r, me) })
	opened = w
}

// opened is the pipe, so that the collector does not close it.
var opened *os.File

func newPool() *sql.DB {
	db := sql.OpenDB(fake{})
	db.SetMaxOpenConns(2)
	return db
}
