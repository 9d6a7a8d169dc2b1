package retention

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"planbridge/mapping"
)

// archive appends conflicts to a file, one JSON object a line. When it returns nil they are on
// the disk. Where the process ends before it removes a conflict from the ledger, the archive may
// have it twice.
func archive(path string, cs []mapping.Conflict) error {
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for i := range cs {
		if err := enc.Encode(&cs[i]); err != nil {
			return fmt.Errorf("archive conflict %s: %w", cs[i].ID, err)
		}
	}
	if err := appendLines(path, lines.Bytes()); err != nil {
		return fmt.Errorf("archive %s: %w", mapping.Count(len(cs), "conflict", "conflicts"), err)
	}
	return nil
}

// appendLines appends whole lines to a file and makes them durable. It first ends a partial line
// of an earlier process.
func appendLines(path string, lines []byte) (err error) {
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	if _, err := f.Write(lines); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if errors.Is(missing, fs.ErrNotExist) {
		return syncDir(filepath.Dir(path))
	}
	return nil
}

// syncDir makes the name of a new file durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
