package sim

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"planbridge/bridge/nettest"
)

// ErrCrashed is the answer to every call of a crashed replica.
var ErrCrashed = errors.New("the replica has crashed")

// AnswerTo begins the name of a step that brings an answer.
const AnswerTo = "answer to "

var errLost = errors.New("the answer is lost")

// Network is an actor's side of the network. Each request and each answer is a step.
type Network struct {
	nettest.Network
	Actor     string
	Scheduler *Scheduler
	Witness   Witness // nil: there is none
	crashed   atomic.Bool
}

// Crash refuses all later calls of the actor. Earlier ones have their effect.
func (n *Network) Crash() { n.crashed.Store(true) }

// RoundTrip implements [http.RoundTripper].
func (n *Network) RoundTrip(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + r.URL.RequestURI()
	asked, r, err := request(r)
	if err != nil {
		return nil, err
	}
	n.Scheduler.step(r.Context(), n.Actor, what, []any{asked})
	if n.crashed.Load() {
		return nil, ErrCrashed
	}
	n.sent(r.Context(), what, asked)
	resp, err := n.Network.RoundTrip(r)
	lost := n.Scheduler.step(r.Context(), n.Actor, AnswerTo+what, answer(resp, err))
	if n.crashed.Load() {
		return nil, ErrCrashed
	}
	if lost {
		return nil, errLost
	}
	return resp, err
}

// request reads a request's body, and returns a request with an unread copy of it.
func request(r *http.Request) (body []byte, again *http.Request, err error) {
	if r.Body == nil {
		return nil, r, nil
	}
	defer r.Body.Close() //nolint:errcheck // it is read
	if body, err = whole(r.Body, r.ContentLength); err != nil {
		return nil, nil, err
	}
	again = r.WithContext(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	return body, again, nil
}

// whole reads a body of the given length; -1: unknown.
func whole(r io.Reader, length int64) ([]byte, error) {
	var b bytes.Buffer
	if length > 0 {
		b.Grow(int(length) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// answer is the content of an answer, whose body can still be read as far as it goes.
func answer(resp *http.Response, err error) []any {
	if err != nil {
		return []any{err.Error()}
	}
	body, broken := whole(resp.Body, resp.ContentLength)
	again := io.Reader(bytes.NewReader(body))
	if broken != nil {
		again = io.MultiReader(again, failing{broken})
	}
	resp.Body = io.NopCloser(again)
	return []any{resp.StatusCode, body}
}

// failing is the end of a body that could not be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
