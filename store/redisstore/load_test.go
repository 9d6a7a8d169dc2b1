package redisstore

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

func none(func(store.Entry, error) bool) {}

// A load deletes the keys of its own prefix and no others, however alike.
func TestLoadLeavesOtherPrefixes(t *testing.T) {
	server := redistest.Start(t)
	prefixes := []string{"a", "a:b", "ab", "*", "[a]"}
	for _, prefix := range prefixes {
		s := open(t, Options{URL: server.URL, Prefix: prefix})
		must(t, s.PutDoc(t.Context(), "p", "d", []byte(prefix)))
	}
	for i, prefix := range slices.Backward(prefixes) {
		s := open(t, Options{URL: server.URL, Prefix: prefix})
		must(t, s.Load(t.Context(), none, true))
		for j, other := range prefixes {
			s := open(t, Options{URL: server.URL, Prefix: other})
			if _, err := s.Doc(t.Context(), "p", "d"); (err == nil) != (j < i) {
				t.Errorf("after a load of %q, the document of %q: %v", prefix, other, err)
			}
		}
	}
}

// A poller has a lease, by which a process elsewhere is known; one that is over keeps nobody.
func TestLoadRefusesAStoreInUse(t *testing.T) {
	server := redistest.Start(t)
	other, s := open(t, Options{URL: server.URL}), open(t, Options{URL: server.URL})
	held, err := other.Acquire(t.Context(), "poll:p", "host-4711", time.Minute)
	if err != nil || !held {
		t.Fatalf("Acquire = %v, %v", held, err)
	}
	err = s.Load(t.Context(), none, true)
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "host-4711") {
		t.Errorf("Load = %v", err)
	}
	later := open(t, Options{URL: server.URL, Clock: storetest.Clock(func() time.Time { return time.Now().Add(2 * time.Minute) })})
	if err := later.Load(t.Context(), none, true); err != nil {
		t.Errorf("Load when the lease is over: %v", err)
	}
}

// A process that works without polling tells that it is alive; one that fell, or that ended
// its session, keeps nobody.
func TestLoadRefusesALiveSession(t *testing.T) {
	server := redistest.Start(t)
	now := time.Now()
	clock := storetest.Clock(func() time.Time { return now })
	other, s := open(t, Options{URL: server.URL, Clock: clock}), open(t, Options{URL: server.URL, Clock: clock})
	beat := func(id store.Session) {
		t.Helper()
		_, err := other.Heartbeat(t.Context(), id, time.Minute)
		must(t, err)
	}
	beat("host-4711")
	if held, err := other.Acquire(t.Context(), "catchup", "host-4711", time.Hour); err != nil || !held {
		t.Fatalf("Acquire = %v, %v", held, err)
	}
	if err := s.Load(t.Context(), none, true); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "host-4711") {
		t.Errorf("Load beside a live session = %v", err)
	}
	now = now.Add(2 * time.Minute)
	beat("host-4712") // names the other as fallen
	_, err := other.EndSessions(t.Context(), []store.Session{"host-4712"})
	must(t, err)
	must(t, s.Load(t.Context(), none, true))
}

// A store in which a load did not end is opened by nobody but another load.
func TestOpenUnfinished(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	torn := errors.New("torn")
	if err := s.Load(t.Context(), func(yield func(store.Entry, error) bool) { yield(store.Entry{}, torn) }, true); !errors.Is(err, torn) {
		t.Fatalf("Load = %v", err)
	}
	if s, err := Open(t.Context(), Options{URL: server.URL}); !errors.Is(err, store.ErrUnfinished) {
		t.Errorf("Open = %v, %v", s, err)
	}
	again := open(t, Options{URL: server.URL, Unfinished: true})
	must(t, again.Load(t.Context(), none, false))
	open(t, Options{URL: server.URL})
}
