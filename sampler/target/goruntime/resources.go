package goruntime

// resourceRoles are the functions of libraries that hand out
// limited things: parts of a semaphore, connections of a pool,
// the lock of a file or socket. The pointer to the pool is the
// first field of a transaction and of a connection; rows have a
// pointer to a connection as their first field.
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

	"internal/poll.(*fdMutex).rwlock":   CallFDLock,
	"internal/poll.(*FD).Write":         CallWrite,
	"internal/poll.(*FD).WriteTo":       CallWrite,
	"internal/poll.(*FD).WriteToInet4":  CallWrite,
	"internal/poll.(*FD).WriteToInet6":  CallWrite,
	"internal/poll.(*FD).WriteMsg":      CallWrite,
	"internal/poll.(*FD).WriteMsgInet4": CallWrite,
	"internal/poll.(*FD).WriteMsgInet6": CallWrite,
	"internal/poll.(*FD).WriteOnce":     CallWrite,
	"internal/poll.(*FD).RawWrite":      CallWrite,
	"internal/poll.(*FD).Writev":        CallWrite,
}

// FDWriteLocked is the bit in the first 8 bytes of a poll.FD
// that is set while a goroutine has its lock for writing
// (mutexWLock).
const FDWriteLocked = 4

// PoolIdle is the offset in a database/sql.DB of the number of
// connections that nobody uses (8 bytes, of freeConn).
const PoolIdle = 48

// PoolOpen returns the offset in a database/sql.DB of the number
// of its connections (8 bytes, numOpen).
func (r Release) PoolOpen() int {
	if r.Line < 23 {
		return 80
	}
	return 88
}

// PoolHead is the number of bytes of a database/sql.DB that have both.
const PoolHead = 96
