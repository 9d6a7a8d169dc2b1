package githubtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// deliveryTimeout is how long a receiver may take to answer, as GitHub has it.
const deliveryTimeout = 10 * time.Second

// Delivery is one webhook on its way to one hook, or its record afterwards.
type Delivery struct {
	ID            int64
	GUID          string // the same for all hooks and redeliveries of an event
	HookID        int64
	Event, Action string
	Repo          string // "" for a ping
	RepoID        int64
	Number        int // of the issue; 0: none
	Payload       []byte
	Redelivery    bool

	// A function set by SetDelivery may change these fields, once, before the delivery leaves.
	Drop   bool          // it never arrives, and is listed as failed
	Lose   bool          // with Drop: it is not even listed
	Copies int           // how often it arrives; comes as 1
	Delay  time.Duration // leaves that much later; others may overtake it

	// These have its outcome.
	Status   int       // of the receiver's answer; 502: none; 0: not sent yet
	At       time.Time // when it was sent
	Duration time.Duration
}

// queued is a delivery in the dispatcher's hands.
type queued struct {
	Delivery
	hook    *hook
	due     time.Duration // age of the server at which it may leave
	decided bool          // its fate is settled
	done    chan struct{} // closed when it has arrived or is lost
}

// hookState is the dispatcher's state.
type hookState struct {
	hooks    []*hook
	queue    []*queued
	log      []*queued // everything ever sent or dropped, oldest first
	sending  *queued
	paused   bool
	dropNext int
	control  func(*Delivery)
	wake     chan struct{}
}

// SetDelivery sets a function that decides the fate of each delivery, after
// the traits did and before it leaves. It runs without locks; nil removes it.
func (s *Server) SetDelivery(f func(*Delivery)) { s.locked(func() { s.hookWork.control = f }) }

// DropNext drops the next n deliveries that would leave.
func (s *Server) DropNext(n int) { s.locked(func() { s.hookWork.dropNext = n }) }

// PauseDeliveries keeps all deliveries back, in order.
func (s *Server) PauseDeliveries() { s.locked(func() { s.hookWork.paused = true }) }

// ShuffleDeliveries puts the kept deliveries into a random order.
func (s *Server) ShuffleDeliveries() {
	s.locked(func() {
		q := s.hookWork.queue
		s.source("shuffle").Shuffle(len(q), func(a, b int) { q[a], q[b] = q[b], q[a] })
	})
}

// ReverseDeliveries reverses the order of the kept deliveries.
func (s *Server) ReverseDeliveries() { s.locked(func() { slices.Reverse(s.hookWork.queue) }) }

// ReleaseDeliveries lets them go.
func (s *Server) ReleaseDeliveries() {
	s.locked(func() { s.hookWork.paused = false })
	s.wakeDispatcher()
}

// Deliveries is the log of sent or dropped deliveries, oldest first, then those still on their way
// (Status 0).
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Delivery
	for _, q := range s.hookWork.log {
		out = append(out, q.Delivery)
	}
	if s.hookWork.sending != nil {
		out = append(out, s.hookWork.sending.Delivery)
	}
	for _, q := range s.hookWork.queue {
		out = append(out, q.Delivery)
	}
	return out
}

// subject is the subject of a delivery.
func (d *Delivery) subject() string {
	return fmt.Sprintf("%d %s %s.%s %d %t", d.HookID, d.Repo, d.Event, d.Action, d.Number, d.Redelivery)
}

// source is for one draw, or several at one moment. It depends only on the number of draws for the
// same purpose. s.mu is held.
func (s *Server) source(purpose string) *rand.Rand {
	s.drawn[purpose]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", purpose, s.drawn[purpose]) //nolint:errcheck // a hash takes everything
	return rand.New(rand.NewPCG(s.opts.Seed, h.Sum64()))
}

// Redeliver sends a delivery again, with its GUID, to every hook that got it.
func (s *Server) Redeliver(guid string) {
	s.locked(func() {
		var seen []int64
		for _, q := range slices.Clone(s.hookWork.log) {
			if q.GUID == guid && !slices.Contains(seen, q.HookID) {
				seen = append(seen, q.HookID)
				s.redeliver(q)
			}
		}
	})
}

func (s *Server) redeliver(q *queued) {
	s.enqueue(q.hook, &Delivery{
		GUID: q.GUID, Event: q.Event, Action: q.Action, Repo: q.Repo, RepoID: q.RepoID,
		Number: q.Number, Payload: q.Payload, Redelivery: true,
	})
}

// Idle waits until no delivery is under way or waiting (those that are paused
// are not waited for) and no late effect is outstanding.
func (s *Server) Idle(ctx context.Context) error {
	return s.Wait(ctx, func(s *Server) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		w := &s.hookWork
		return w.sending == nil && s.late == 0 && (w.paused || len(w.queue) == 0)
	})
}

// enqueue hands a delivery to the dispatcher.
func (s *Server) enqueue(h *hook, d *Delivery) {
	d.ID, d.HookID, d.Copies = s.nextID(), h.id, 1
	q := &queued{Delivery: *d, hook: h, due: s.age(), done: make(chan struct{})}
	q.due += s.traits.Delay + time.Duration(s.traits.HoursLate)*time.Hour
	if s.traits.Reorder > 0 {
		q.due += time.Duration(s.source("due " + d.subject()).Int64N(int64(s.traits.Reorder)))
	}
	s.hookWork.queue = append(s.hookWork.queue, q)
	s.wakeDispatcher()
}

func (s *Server) wakeDispatcher() {
	select {
	case s.hookWork.wake <- struct{}{}:
	default:
	}
}

// dispatch sends one delivery after the other until the server closes.
func (s *Server) dispatch() {
	for s.ctx.Err() == nil {
		q, wait := s.nextDelivery()
		if q != nil {
			s.process(q)
			continue
		}
		t := time.NewTimer(wait)
		select {
		case <-s.hookWork.wake:
		case <-t.C:
		case <-s.ctx.Done():
		}
		t.Stop()
	}
}

// nextDelivery takes the delivery that has been due for longest, the first in
// the queue of equals, or says how long to wait for one.
func (s *Server) nextDelivery() (*queued, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.hookWork
	if w.paused || len(w.queue) == 0 {
		return nil, time.Hour
	}
	age, first := s.age(), -1
	for n, q := range w.queue {
		if q.due <= age {
			first = n
			if s.traits.Reorder == 0 {
				break
			}
		}
		if first < 0 || q.due < w.queue[first].due {
			first = n
		}
	}
	q := w.queue[first]
	if q.due > age {
		return nil, q.due - age
	}
	w.queue = slices.Delete(w.queue, first, first+1)
	w.sending = q
	return q, 0
}

// process settles the fate of a delivery and, unless it has to wait, sends it.
func (s *Server) process(q *queued) {
	if !q.decided {
		s.decide(q)
	}
	if q.Delay > 0 {
		s.locked(func() {
			q.due, q.Delay = s.age()+q.Delay, 0
			s.hookWork.sending = nil
			s.hookWork.queue = append(s.hookWork.queue, q)
		})
		return
	}
	status, start := http.StatusBadGateway, time.Now()
	for range q.Copies {
		if !q.Drop {
			status = s.post(q)
		}
	}
	s.locked(func() {
		q.Status, q.At, q.Duration = status, s.now(), time.Since(start)
		q.hook.last = fields{"code": status, "status": "active", "message": http.StatusText(status)}
		s.hookWork.sending = nil
		s.hookWork.log = append(s.hookWork.log, q)
		close(q.done)
	})
}

func (s *Server) decide(q *queued) {
	s.mu.Lock()
	w, t := &s.hookWork, s.traits
	q.decided = true
	if w.dropNext > 0 {
		w.dropNext--
		q.Drop = true
	}
	random := s.source("fate " + q.subject())
	q.Drop = q.Drop || random.Float64() < t.Drop
	q.Lose = t.LoseDropped
	if random.Float64() < t.Double {
		q.Copies = 2
	}
	d, control := q.Delivery, w.control
	s.mu.Unlock()
	if control == nil {
		return
	}
	control(&d)
	s.locked(func() { q.Drop, q.Lose, q.Copies, q.Delay = d.Drop, d.Lose, d.Copies, d.Delay })
}

// post sends one webhook and answers the receiver's status, 502 for none.
func (s *Server) post(q *queued) int {
	body, kind := q.Payload, "application/json"
	s.mu.Lock()
	if s.traits.FormPayload {
		body, kind = []byte(url.Values{"payload": {string(body)}}.Encode()), "application/x-www-form-urlencoded"
	}
	s.mu.Unlock()
	req, err := http.NewRequestWithContext(s.ctx, http.MethodPost, q.hook.url, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway
	}
	req.Header = s.deliveryHeader(q, body, kind)
	resp, err := s.client.Do(req)
	if err != nil {
		s.log.Debug("githubtest: delivery", "guid", q.GUID, "err", err)
		return http.StatusBadGateway
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16)) //nolint:errcheck // only to reuse the connection
	return resp.StatusCode
}

func (s *Server) deliveryHeader(q *queued, body []byte, kind string) http.Header {
	h := http.Header{}
	h.Set("Content-Type", kind)
	h.Set("User-Agent", "GitHub-Hookshot/5f6d7c1")
	h.Set("X-GitHub-Event", q.Event)
	h.Set("X-GitHub-Delivery", q.GUID)
	h.Set("X-GitHub-Hook-ID", fmt.Sprint(q.HookID))
	target, id := "repository", q.RepoID
	switch {
	case q.hook.app != nil:
		target, id = "integration", q.hook.app.ID
	case q.hook.repo == nil:
		target = "organization"
	}
	h.Set("X-GitHub-Hook-Installation-Target-Type", target)
	h.Set("X-GitHub-Hook-Installation-Target-ID", fmt.Sprint(id))
	if q.hook.secret != "" {
		h.Set("X-Hub-Signature-256", Sign(q.hook.secret, body))
	}
	return h
}

// Sign is the value of X-Hub-Signature-256 for a body.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
