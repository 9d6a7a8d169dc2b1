package status

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	pathBackup = "/api/v1/backup"
	// takeTimeout is how long the client of a backup may read nothing.
	takeTimeout = time.Minute
)

// backup answers with a file of store/backup. The file's last line reports an error that
// happens after its beginning. It is a POST, so that no page of another site can make a
// service read its whole store.
func (h *handler) backup(w http.ResponseWriter, r *http.Request) {
	if !h.dumping.TryLock() {
		h.fail(w, r, errDumping("backup"))
		return
	}
	defer h.dumping.Unlock()
	began, out := time.Now(), &patient{w: w, control: http.NewResponseController(w), kind: "application/zstd"}
	err := h.Operator.Backup(r.Context(), out, h.Version)
	_ = out.extend() // for the end of the answer
	switch {
	case err != nil && out.bytes == 0:
		h.fail(w, r, err)
	case err != nil:
		h.Logger.Warn("backup given up", "bytes", out.bytes, "err", err)
	default:
		h.Logger.Info("backup written", "bytes", out.bytes, "took", time.Since(began))
	}
}

func errDumping(what string) error {
	return fmt.Errorf("%s: another backup or export is under way: %w", what, ErrState)
}

// patient writes an answer for as long as its client reads it.
type patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
	kind    string // the answer's content type
	bytes   int64
}

func (p *patient) Write(b []byte) (int, error) {
	if p.bytes == 0 {
		p.w.Header().Set("Content-Type", p.kind)
	}
	if err := p.extend(); err != nil {
		return 0, err
	}
	n, err := p.w.Write(b)
	p.bytes += int64(n)
	if err == nil {
		err = supported(p.control.Flush())
	}
	return n, err
}

// extend renews the client's time.
func (p *patient) extend() error {
	return supported(p.control.SetWriteDeadline(time.Now().Add(takeTimeout)))
}

// supported drops the error of a feature that a transport may lack.
func supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
