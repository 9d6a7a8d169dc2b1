package webhook_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// FuzzIntake: every delivery of a holder of the secret is answered, counted once, and never with a
// 500.
func FuzzIntake(f *testing.F) {
	seed := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	f.Add("issues", seed(event("opened", issue(1))))
	f.Add("issues", seed(event("edited", issue(1))))
	f.Add("issues", []byte(`{"Action":"opened","Issue":{"id":-1}}`))
	f.Add("ping", []byte("{}"))
	f.Add("repository", []byte(`{"Action":"renamed"}`))
	f.Add("", []byte("null"))
	w := newWorld(f, func(o *options) { o.Store = forgetful{} })
	total := func() (n float64) {
		for _, v := range w.counts() {
			n += v
		}
		return n
	}
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		was := total()
		rec := httptest.NewRecorder()
		w.intake.ServeHTTP(rec, w.raw(name, body))
		if rec.Code != 202 && rec.Code != 400 {
			t.Errorf("answered %d: %s\n%s", rec.Code, rec.Body, w.log)
		}
		if n := total() - was; n != 1 {
			t.Errorf("counted %v times: %v", n, w.counts())
		}
	})
}

// forgetful is a store that takes everything and keeps nothing, so that the
// fuzzer waits for no disk.
type forgetful struct{}

func (forgetful) Find(context.Context, mapping.ObjectID, mapping.Ref) (mapping.LinkID, error) {
	return "", store.ErrNotFound
}

func (forgetful) Projects(context.Context) ([]mapping.ObjectID, error) { return nil, nil }

func (forgetful) Link(context.Context, store.Key) (*mapping.Link, error) {
	return nil, store.ErrNotFound
}

func (forgetful) Observe(_ context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	got := make([]store.Observed, len(obs))
	for i, o := range obs {
		if o.Create != nil {
			got[i] = store.Observed{Key: store.Key{Project: project, Link: o.Create.ID}, Created: true, Stored: true}
		}
	}
	return got, nil
}
