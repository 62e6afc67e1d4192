package goruntime

// resourceRoles are the functions of libraries that hand out things of which there are only so many: parts of a semaphore,
// connections of a pool. The pointer to the pool is the first field of a transaction and of a connection; rows have a pointer to
// a connection as their first field.
var resourceRoles = map[string]CallRole{
	"golang.org/x/sync/semaphore.(*Weighted).Acquire": CallAcquire,
	"golang.org/x/sync/semaphore.(*Weighted).Release": CallRelease,

	"database/sql.(*DB).conn":      CallConnection,
	"database/sql.(*DB).pingDC":    CallWithConnection,
	"database/sql.(*DB).prepareDC": CallWithConnection,
	"database/sql.(*DB).execDC":    CallWithConnection,
	"database/sql.(*DB).queryDC":   CallWithConnection,
	"database/sql.(*DB).beginDC":   CallWithConnection,
	"database/sql.(*Tx).Commit":    CallReturn,
	"database/sql.(*Tx).Rollback":  CallReturn,
	"database/sql.(*Conn).Close":   CallReturn,
	"database/sql.(*Rows).Close":   CallReturnOf,
}

// PoolIdle is the offset in a database/sql.DB of the number of connections that nobody uses (8 bytes, of freeConn).
const PoolIdle = 48

// PoolOpen returns the offset in a database/sql.DB of the number of its connections (8 bytes, numOpen).
func (r Release) PoolOpen() int {
	if r.Line < 23 {
		return 80
	}
	return 88
}

// PoolHead is the number of bytes of a database/sql.DB that have both.
const PoolHead = 96
