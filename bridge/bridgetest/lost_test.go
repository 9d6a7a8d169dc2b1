package bridgetest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/store/redisstore/redistest"
)

// soon is a lease that ends while a test waits: what a dead bridge, or a
// restored copy of the store, held is free then.
const soon = 12 * time.Second

// What is lost with the store is restored from the markers on both sides,
// while the service runs and people go on working: nothing is there twice, and
// nothing that a person wrote is gone.
func TestRedisIsEmptied(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL})
	p.on(10)
	r.Flush()
	p.on(40)
	stop()
	p.whole()
}

// The last second of the append-only file is what appendfsync everysec may
// lose.
func TestRedisIsKilledAndForgetsItsLastSecond(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL})
	p.on(10)
	path, known := r.Kept()
	p.on(40)
	r.Kill()
	if err := os.Truncate(path, known); err != nil {
		t.Fatal(err)
	}
	p.on(10)
	r.Restart()
	p.on(10)
	stop()
	p.whole()
}

func TestFileIsDeletedWhileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "planbridge.db")
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: "file:" + path})
	p.on(10)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.on(40)
	stop()
	p.whole()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file of a store that goes on: %v", err)
	}
}

// A process that starts without its file does not know what was made while it
// was away: that is like what was there before it first ran. What was there is
// found again.
func TestFileIsDeletedWhileStopped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: "file:" + path})
	p.on(10)
	stop()
	p.whole()
	p.births = false
	stop = p.busy(everyAct)
	p.on(5)
	p.restart(func() error { return os.Remove(path) })
	p.on(20)
	stop()
	p.whole()
}

func TestFileIsAnOldCopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: "file:" + path})
	p.on(10)
	var copied []byte
	p.restart(func() (err error) { copied, err = os.ReadFile(path); return err })
	p.on(60)
	p.restart(func() error { return os.WriteFile(path, copied, fs.FileMode(0o600)) })
	p.on(20)
	stop()
	p.whole()
}

// restart does something while the bridge is stopped.
func (p *team) restart(meanwhile func() error) {
	p.w.t.Helper()
	if err := p.w.StopBridge(); err != nil {
		p.w.t.Fatal(err)
	}
	if err := meanwhile(); err != nil {
		p.w.t.Fatal(err)
	}
	if err := p.w.StartBridge(); err != nil {
		p.w.t.Fatal(err)
	}
}
