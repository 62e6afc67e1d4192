package main

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps the signals of the terminal from a program.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
