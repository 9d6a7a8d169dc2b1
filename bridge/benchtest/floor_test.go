//go:build bench

package benchtest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"planbridge/bridge/github"
	"planbridge/store/redisstore/redistest"
)

// floorBytes is the average size that the intake keeps of a delivery of the benchmark. That is a
// snapshot of 1.5 KB, and every fourth time an event of 2.3 KB.
const floorBytes = 2000

// floorKeys is how many records a floor keeps: as many as the intake has issues, so
// that no store grows beyond the others.
const floorKeys = intakeIssues

// floor makes some bytes durable and returns when they are.
type floor func(data []byte) error

// some keeps as many bytes of a payload as the intake does.
func some(keep floor) floor {
	return func(data []byte) error { return keep(data[:min(len(data), floorBytes)]) }
}

// read keeps what reads the payload first, by the library that the intake has.
func read(keep floor) floor {
	return func(data []byte) error {
		if _, err := github.ParseEvent("issues", data); err != nil {
			return err
		}
		return keep(data)
	}
}

// record is something that waits to become durable.
type record struct {
	key  string
	data []byte
	done chan error
}

// grouped makes a floor of what makes several records durable: observations that come while one
// group is under way form the next one.
func grouped(t testing.TB, commit func([]record) error) floor {
	var mu sync.Mutex
	var waiting []record
	wake, stop, stopped := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-wake:
			}
			mu.Lock()
			group := waiting
			waiting = nil
			mu.Unlock()
			err := commit(group)
			for _, r := range group {
				r.done <- err
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
	var count atomic.Int64
	return func(data []byte) error {
		r := record{strconv.FormatInt(count.Add(1)%floorKeys, 10), data, make(chan error, 1)}
		mu.Lock()
		waiting = append(waiting, r)
		mu.Unlock()
		select {
		case wake <- struct{}{}:
		default:
		}
		return <-r.done
	}
}

// redisFloor sends one SET a record, those that come together in one write.
func redisFloor(t testing.TB, addr string) floor {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // all was answered
	in, out := bufio.NewReader(conn), bufio.NewWriterSize(conn, 1<<20)
	return grouped(t, func(group []record) error {
		for _, r := range group {
			fmt.Fprintf(out, "*3\r\n$3\r\nSET\r\n$%d\r\nfloor:%s\r\n$%d\r\n", len("floor:")+len(r.key), r.key, len(r.data))
			out.Write(r.data)       //nolint:errcheck // Flush tells
			out.WriteString("\r\n") //nolint:errcheck // Flush tells
		}
		if err := out.Flush(); err != nil {
			return err
		}
		for range group {
			if line, err := in.ReadSlice('\n'); err != nil || line[0] != '+' {
				return fmt.Errorf("answer %q: %w", line, err)
			}
		}
		return nil
	})
}

// redisTime is what the server has used of the processor so far.
func redisTime(t testing.TB, server *redistest.Server) time.Duration {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // all was answered
	if _, err := io.WriteString(conn, "INFO cpu\r\nQUIT\r\n"); err != nil {
		t.Fatal(err)
	}
	info, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for line := range strings.Lines(string(bytes.TrimSpace(info))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += seconds
		}
	}
	if sum == 0 {
		t.Fatalf("redis told no processor time: %q", info)
	}
	return time.Duration(sum * float64(time.Second))
}

// boltFloor puts one value a record, those that come together in one commit.
func boltFloor(t testing.TB, path string) floor {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return grouped(t, func(group []record) error {
		return db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("floor"))
			if err != nil {
				return err
			}
			for _, r := range group {
				if err := b.Put([]byte(r.key), r.data); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
