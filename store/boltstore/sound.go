package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"planbridge/store"
)

// bbolt trusts its file. A page that is missing or overwritten ends the process while the file is
// opened or read, in a goroutine where nothing can recover. So each page in use is checked before.

// checkPages returns [store.ErrDamaged] for a file that bbolt cannot work on, and [store.ErrInUse]
// while another process holds it. No file, and an empty one, are sound: bbolt makes them.
func checkPages(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // opening it says why
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockWait}) // reads the first two pages alone
	var failed syscall.Errno
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return store.ErrInUse
	case errors.As(err, &failed):
		return err
	case err != nil:
		return damaged("%v", err)
	}
	return errors.Join(db.View(func(tx *bbolt.Tx) error { return checkTx(tx, path) }), db.Close())
}

// damaged says what is wrong with a file, and what to do.
func damaged(what string, args ...any) error {
	return fmt.Errorf("%w (%s): put a backup in its place with planbridge restore FILE --force, or move it away and run planbridge rebuild",
		store.ErrDamaged, fmt.Sprintf(what, args...))
}

func checkTx(tx *bbolt.Tx, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return damaged("it has %d bytes, and had %d at least", info.Size(), tx.Size())
	}
	size := tx.DB().Info().PageSize
	p := &pages{file: file, size: size, seen: make([]bool, tx.Size()/int64(size))}
	return p.tree(uint64(tx.Cursor().Bucket().RootPage()), nil, nil)
}

// The layout of a page: a header and its elements, which say where their keys and values are. A
// bucket is an element whose value names the root of its tree, or has its only page.
const (
	pageHeader    = 16 // id 8, kind 2, elements 2, further pages 4
	elementSize   = 16 // of a branch: offset 4, key 4, page 8; of a leaf: kind 4, offset 4, key 4, value 4
	branchPage    = 1
	leafPage      = 2
	bucketElement = 1
	bucketHeader  = 16 // root 8, sequence 8
)

var order = binary.NativeEndian

// pages checks the pages of a file.
type pages struct {
	file io.ReaderAt
	size int
	seen []bool // by the page's number
}

// tree checks a page and all below it. Its keys are from least on and below end; nil: no bound.
func (p *pages) tree(id uint64, least, end []byte) error {
	page, err := p.read(id)
	if err == nil {
		err = p.elements(page, least, end)
	}
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return damaged("page %d: %v", id, err)
	}
	return err
}

// read reads a page with those that continue it, and marks them as seen.
func (p *pages) read(id uint64) ([]byte, error) {
	page := make([]byte, p.size)
	if id < 2 || id >= uint64(len(p.seen)) {
		return nil, errors.New("it is outside of the file")
	}
	if _, err := p.file.ReadAt(page, int64(id)*int64(p.size)); err != nil {
		return nil, err
	}
	more := uint64(order.Uint32(page[12:]))
	if got := order.Uint64(page); got != id || more >= uint64(len(p.seen))-id {
		return nil, fmt.Errorf("it says that it is page %d", got)
	}
	for n := id; n <= id+more; n++ {
		if p.seen[n] {
			return nil, errors.New("two places refer to it")
		}
		p.seen[n] = true
	}
	if more > 0 {
		page = make([]byte, (more+1)*uint64(p.size))
		if _, err := p.file.ReadAt(page, int64(id)*int64(p.size)); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// elements checks the elements of a page, and the pages that they refer to.
func (p *pages) elements(page, least, end []byte) error {
	kind, n := order.Uint16(page[8:]), int(order.Uint16(page[10:]))
	if kind != branchPage && kind != leafPage || kind == branchPage && n == 0 || pageHeader+n*elementSize > len(page) {
		return fmt.Errorf("it is of kind %d with %d elements", kind, n)
	}
	all := make([]element, n)
	for i := range all {
		at := page[pageHeader+i*elementSize:]
		var sound bool
		if all[i], sound = elementAt(at, kind); !sound {
			return fmt.Errorf("element %d is outside of it", i)
		}
		key := all[i].key
		if i > 0 && bytes.Compare(all[i-1].key, key) >= 0 || bytes.Compare(least, key) > 0 || end != nil && bytes.Compare(key, end) >= 0 {
			return fmt.Errorf("element %d is out of order", i)
		}
	}
	for i, e := range all {
		var err error
		switch {
		case kind == branchPage && i+1 < n:
			err = p.tree(e.page, e.key, all[i+1].key)
		case kind == branchPage:
			err = p.tree(e.page, e.key, end)
		case e.kind&bucketElement != 0:
			err = p.bucket(e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the tree of a bucket.
func (p *pages) bucket(value []byte) error {
	if len(value) < bucketHeader {
		return errors.New("a bucket in it is too short")
	}
	if root := order.Uint64(value); root != 0 {
		return p.tree(root, nil, nil)
	}
	if len(value) < bucketHeader+pageHeader {
		return errors.New("a bucket in it has no page")
	}
	return p.elements(value[bucketHeader:], nil, nil)
}

// element is an element of a page.
type element struct {
	kind       uint32
	page       uint64 // of a branch
	key, value []byte
}

// elementAt reads the element at the beginning of at, where the rest of its page is. sound: it is
// whole.
func elementAt(at []byte, kind uint16) (e element, sound bool) {
	var offset, key, value uint64
	if kind == branchPage {
		offset, key, e.page = uint64(order.Uint32(at)), uint64(order.Uint32(at[4:])), order.Uint64(at[8:])
	} else {
		e.kind = order.Uint32(at)
		offset, key, value = uint64(order.Uint32(at[4:])), uint64(order.Uint32(at[8:])), uint64(order.Uint32(at[12:]))
	}
	if offset+key+value > uint64(len(at)) {
		return e, false
	}
	e.key, e.value = at[offset:offset+key], at[offset+key:offset+key+value]
	return e, true
}
