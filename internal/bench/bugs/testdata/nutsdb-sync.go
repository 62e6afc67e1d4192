package main

import (
	"fmt"
	"os"
	"time"

	"github.com/xujiajun/nutsdb"
)

// Orders have 20 lines, each order in a transaction.
func main() {
	options := nutsdb.DefaultOptions
	var err error
	options.Dir, err = os.MkdirTemp(os.Getenv("WORK_DIR"), "db")
	check(err)
	db, err := nutsdb.Open(options)
	check(err)
	crew(2, 5*time.Millisecond, func(n int) func() {
		return func() {
			check(db.Update(func(tx *nutsdb.Tx) error { return order(tx, n) }))
		}
	})
}

func order(tx *nutsdb.Tx, n int) error {
	for line := range 20 {
		key := fmt.Sprintf("%d-%d", n, line)
		if err := tx.Put("orders", []byte(key), []byte("one of these, please"), 0); err != nil {
			return err
		}
	}
	return nil
}
