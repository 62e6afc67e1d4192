// Package halt reads the memory of a running process and halts
// some of its threads for a moment.
//
// A Process is opened once. Between halts nothing is attached to
// it: its memory is read with process_vm_readv, which the
// process doesn't notice. A halt seizes the threads that the
// caller names (PTRACE_SEIZE, PTRACE_INTERRUPT), reads their
// registers, and detaches from them, whatever the caller's
// function returns. A signal that was on its way to a thread is
// delivered when the halt ends. If the sampler dies during a
// halt, the kernel detaches it from all threads.
//
// Several things make this more than four system calls:
//
//   - PTRACE_SEIZE of a thread of a process that is executing another program blocks until that program starts. The
//     start in turn waits until the zombies of all seized threads are reaped. If the seizing thread also had to reap
//     them, both would wait forever. So no call here blocks in wait, and a second thread reaps.
//   - A thread that executes another program takes over the thread id of the process leader. It stays traced, under
//     that id.
//   - A thread in an uninterruptible sleep can be neither stopped nor detached from. It will stop before it returns to
//     the program, so a halt need not wait for it. The halt owes it a detach, and detaches from it once it has stopped.
//   - On a busy machine an interrupted thread may wait milliseconds for a CPU before it stops. The other threads must
//     not stay halted for so long. An interrupted thread runs no more code of the program, so its memory can be read
//     before it has stopped. It is "late": its registers are read when it gets its CPU, long after the other threads
//     were detached from.
//   - A signal on its way to the thread may have stopped it. The signal would be lost if the detach did not pass it on.
//   - If the sampler started the process, the leader is the sampler's child, and its exit status is for the code that
//     waits for the child. So stops are only peeked at (WNOWAIT), never consumed.
//   - The kernel lets an interrupted sleep go on by another system call, restart_syscall. A filter of the program
//     (seccomp) may kill it for that. So in such a program the sleep ends early (EINTR), as Go's own signals end it.
//
// For example, a halt of threads 11 (on a CPU), 12 (asleep in
// futex), 13 (waiting for a CPU) and 14 (in an uninterruptible
// sleep): 11 and 12 stop within microseconds, and their
// registers are read. 13 counts as late after 20 µs. The caller
// reads memory, then 11 and 12 are detached from. When 13 gets
// its CPU, it stops, its registers are passed to the function
// for late threads, and it is detached from. 14 is owed a detach
// when Halt returns.
package halt
