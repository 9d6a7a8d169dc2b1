package webhook_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

// FuzzIntake: whatever a holder of the secret sends is answered, counted once,
// and never with a 500.
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
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		w := newWorld(t)
		rec := httptest.NewRecorder()
		w.intake.ServeHTTP(rec, w.raw(name, body))
		if rec.Code != 202 && rec.Code != 400 {
			t.Errorf("answered %d: %s\n%s", rec.Code, rec.Body, w.log)
		}
		var n float64
		for _, v := range w.counts() {
			n += v
		}
		if n != 1 {
			t.Errorf("counted %v", w.counts())
		}
	})
}
