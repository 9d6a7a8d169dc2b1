package boltstore

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// fill bounds the size of this process's files at that of the store's.
func fill(t testing.TB, path string) (room func()) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails as well
	var was syscall.Rlimit
	bound := func(l syscall.Rlimit) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	bound(syscall.Rlimit{Cur: uint64(info.Size()), Max: was.Max})
	t.Cleanup(func() { bound(was) })
	return func() { bound(was) }
}

func TestWhatLacksRoom(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		for _, err := range []error{
			&fs.PathError{Op: "write", Path: "planbridge.db", Err: cause},
			errors.New("file resize error: " + (&fs.PathError{Op: "truncate", Path: "planbridge.db", Err: cause}).Error()), // as bbolt does
			errors.New("file sync error: " + cause.Error()),
		} {
			if !lacksRoom(err) {
				t.Errorf("%q is no lack of room", err)
			}
		}
	}
	for _, err := range []error{errors.New("page 7 already freed"), syscall.EIO} {
		if lacksRoom(err) {
			t.Errorf("%q is a lack of room", err)
		}
	}
}
