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
