package nettest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestNetworks: a client cannot tell the two networks apart.
func TestNetworks(t *testing.T) {
	t.Run("loopback", func(t *testing.T) { speak(t, NewLoopback()) })
	t.Run("in process", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { speak(t, NewInProcess()) })
	})
}

func speak(t *testing.T, n Network) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Said", r.Header.Get("X-Say"))
		w.WriteHeader(http.StatusAccepted)
		io.Copy(w, r.Body) //nolint:errcheck // the client complains
	})
	mux.HandleFunc("GET /cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /half", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "half") //nolint:errcheck // as above
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	slow := make(chan error, 1)
	mux.HandleFunc("GET /slow", func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		slow <- r.Context().Err()
	})
	addr, stop, err := n.Serve("127.0.0.1:0", mux)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Serve(addr, mux); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a taken address: %v", err)
	}
	c := &http.Client{Transport: n, Timeout: 200 * time.Millisecond}
	defer c.CloseIdleConnections()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/echo", strings.NewReader("hello"))
	req.Header.Set("X-Say", "word")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close() //nolint:errcheck // it was read
	if err != nil || string(text) != "hello" || resp.StatusCode != http.StatusAccepted || resp.Header.Get("X-Said") != "word" {
		t.Errorf("echo: %d %q %v %v", resp.StatusCode, text, resp.Header, err)
	}
	if _, err := c.Get("http://" + addr + "/cut"); err == nil {
		t.Error("a connection that was cut answered")
	}
	if resp, err := c.Get("http://" + addr + "/half"); err != nil {
		t.Error(err)
	} else if text, err := io.ReadAll(resp.Body); err == nil || string(text) != "half" {
		t.Errorf("half an answer: %q, %v", text, err)
	}
	if _, err := c.Get("http://" + addr + "/slow"); err == nil {
		t.Error("an answer that never came")
	}
	if err := <-slow; err == nil {
		t.Error("the handler was not told that its client went")
	}
	stop()
	if _, err := c.Get("http://" + addr + "/echo"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the end: %v", err)
	}
}
