// Package halt reads the memory of a running process and halts some of its threads for a moment.
//
// A Process is opened once. Between halts nothing is attached to it: memory is read with process_vm_readv, which
// the target doesn't notice. Halt seizes the threads that the caller names (PTRACE_SEIZE, PTRACE_INTERRUPT), gives
// their registers, and lets them go again, handing pending signals back, whatever the caller's function returns.
// A sampler that dies in between leaves nothing behind: the kernel lets its tracees go.
//
// What makes this more than four system calls:
//
//   - Attaching to a process that executes another program waits for that program to start, while the start waits
//     for the zombies of seized threads to be reaped. So nothing here blocks in wait, and a second thread reaps.
//   - A thread that executes another program takes the number of the process; it is still traced, under that number.
//   - A thread that sleeps uninterruptibly can be neither halted nor let go. It stops before it gets back to the
//     program, so that a halt needn't wait for it; it is owed a detach, and gets it as soon as it stops.
//   - On a busy machine a thread that is to stop may wait milliseconds for a CPU, and the others must not stand all that
//     time. It does nothing in the program any more once it is interrupted, so that memory can be read without it; it
//     gives its registers when it gets to its CPU, long after the others were let go.
//   - A stop can be that of a signal on its way, which would be lost if it were not handed back.
//   - The leader of a process that the sampler started is the sampler's child: its exit status belongs to whoever
//     waits for it, so that stops are peeked at (WNOWAIT), never consumed.
package halt
