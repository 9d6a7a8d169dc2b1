package github

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// versioned serves issues with ETags; version moves by hand.
type versioned struct {
	*fake
	version atomic.Int64
}

func newVersioned(t *testing.T) *versioned {
	v := &versioned{fake: newFake(t)}
	v.mux.HandleFunc("GET /repos/acme/web/issues/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil {
			t.Error(err)
		}
		tag := fmt.Sprintf(`W/"%d-%d"`, n, v.version.Load())
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "private, max-age=60")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		write(w, 200, issueJSON(v.URL, "acme/web", n, map[string]any{"title": fmt.Sprintf("v%d", v.version.Load())}))
	})
	v.mux.HandleFunc("PATCH /repos/acme/web/issues/{n}", func(w http.ResponseWriter, r *http.Request) {
		v.version.Add(1)
		write(w, 200, issueJSON(v.URL, "acme/web", 12, nil))
	})
	return v
}

func (v *versioned) title(t *testing.T, c *Client, n int) string {
	t.Helper()
	i, err := c.Issue(within(t), "acme/web", n)
	if err != nil {
		t.Fatal(err)
	}
	return i.Title
}

// conditions lists for each GET whether it was conditional.
func (v *versioned) conditions() (list []bool) {
	for _, r := range v.requests() {
		if r.method == http.MethodGet {
			list = append(list, r.inm != "")
		}
	}
	return list
}

func TestUnchangedIssueIsReadConditionally(t *testing.T) {
	v := newVersioned(t)
	c := v.client(t)
	for range 3 {
		equal(t, v.title(t, c, 12), "v0")
	}
	v.version.Store(1)
	equal(t, v.title(t, c, 12), "v1") // at once, in spite of max-age
	equal(t, v.title(t, c, 12), "v1")
	equal(t, v.conditions(), []bool{false, true, true, true, true})
}

func TestWriteDropsTheSnapshot(t *testing.T) {
	v := newVersioned(t)
	c := v.client(t)
	v.title(t, c, 12)
	v.title(t, c, 1)
	v.title(t, c, 120)
	if _, err := c.EditIssue(within(t), "acme/web", 12, IssueEdit{Title: new("t")}); err != nil {
		t.Fatal(err)
	}
	v.title(t, c, 12)
	v.title(t, c, 1)
	v.title(t, c, 120)
	equal(t, v.conditions(), []bool{false, false, false, false, true, true})
}

// TestConfirmationOfAnotherSnapshot: a 304 with a foreign ETag confirms
// nothing that we hold.
func TestConfirmationOfAnotherSnapshot(t *testing.T) {
	f := newFake(t)
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			write(w, 304, ``, "ETag", `"new"`)
			return
		}
		write(w, 200, issueJSON(f.URL, "acme/web", 12, nil), "ETag", `"old"`)
	})
	c := f.client(t)
	for range 2 {
		if _, err := c.Issue(within(t), "acme/web", 12); err != nil {
			t.Fatal(err)
		}
	}
	rs := f.requests()
	if len(rs) != 3 || rs[1].inm == "" || rs[2].inm != "" {
		t.Errorf("requests are %+v", rs)
	}
}

// TestSnapshotsOfTwoReadsAreNotMixed: a 304 confirms the answer to its own request, whatever
// another read has kept meanwhile.
func TestSnapshotsOfTwoReadsAreNotMixed(t *testing.T) {
	slow, asked := make(chan struct{}), make(chan struct{})
	get := func() *http.Request {
		r, err := http.NewRequest(http.MethodGet, "https://api.github.com/repos/a/b/issues/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	answers := 0
	tr := newETags(roundTripper(func(r *http.Request) (*http.Response, error) {
		answers++
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Etag": {fmt.Sprintf(`"%d"`, answers)}}}
		setBody(resp, []byte(strconv.Itoa(answers)))
		if answers == 2 { // the slow one: confirms "1"
			close(asked)
			<-slow
			resp.StatusCode, resp.Header = 304, http.Header{}
			setBody(resp, nil)
		}
		return resp, nil
	}), 10, 1<<20)
	read := func() string {
		resp, err := tr.RoundTrip(get())
		if err != nil {
			t.Error(err)
			return ""
		}
		defer resp.Body.Close()
		return string(bodyOf(resp))
	}
	equal(t, read(), "1")
	var wg sync.WaitGroup
	wg.Go(func() { equal(t, read(), "1") })
	<-asked
	answers = 9
	equal(t, read(), "10")
	close(slow)
	wg.Wait()
}

func TestETagsAreOfOneToken(t *testing.T) {
	tr := newETags(roundTripper(func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"1"`}}}
		if r.Header.Get("If-None-Match") != "" {
			resp.StatusCode = 304
		}
		setBody(resp, []byte("of "+r.Header.Get("Authorization")+r.Header.Get("Accept")))
		return resp, nil
	}), 10, 1<<20)
	read := func(token, accept string) (string, bool) {
		r, err := http.NewRequest(http.MethodGet, "https://api.github.com/user", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", token)
		r.Header.Set("Accept", accept)
		resp, err := tr.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return string(bodyOf(resp)), resp.Header.Get(fromCache) != ""
	}
	for _, cached := range []bool{false, true} {
		for _, who := range [][2]string{{"a", "x"}, {"b", "x"}, {"a", "y"}} {
			body, hit := read(who[0], who[1])
			if body != "of "+who[0]+who[1] || hit != cached {
				t.Errorf("%v got %q, cached %v", who, body, hit)
			}
		}
	}
}

func TestETagCacheIsBounded(t *testing.T) {
	size := 5000
	tr := newETags(roundTripper(func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"1"`}}}
		setBody(resp, []byte(strings.Repeat("x", size)))
		return resp, nil
	}), 8, 40_000)
	read := func(i int) {
		r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("https://api.github.com/repos/a/b/issues/%d", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	check := func(entries int) {
		t.Helper()
		sum := 0
		for e := tr.order.Front(); e != nil; e = e.Next() {
			sum += e.Value.(*snapshot).size()
		}
		if tr.order.Len() != entries || len(tr.byKey) != entries || len(tr.byIssue) != entries || tr.bytes != sum || sum > 40_000 {
			t.Errorf("%d entries, %d keys, %d issues, %d bytes counted, %d real", tr.order.Len(), len(tr.byKey), len(tr.byIssue), tr.bytes, sum)
		}
	}
	for i := range 50 {
		read(i)
		read(0) // stays, being used
	}
	check(6) // by bytes
	if tr.order.Front().Value.(*snapshot).issue != "/issues/0" {
		t.Error("the latest use is not in front")
	}
	size = 10
	for i := range 50 {
		read(100 + i)
	}
	check(8) // by entries
	size = 100_000
	read(999) // larger than the whole cache: not kept
	check(8)
}

func TestOnlyFullAnswersAreKept(t *testing.T) {
	for _, tc := range []struct {
		status int
		etag   string
	}{{404, `"1"`}, {200, ``}, {500, `"1"`}} {
		f := newFake(t)
		f.on("/", tc.status, `{"id":1}`, "ETag", tc.etag)
		c := f.client(t)
		for range 2 {
			_, _ = c.Repository(within(t), "acme/web") // the requests are what is looked at
		}
		if rs := f.requests(); len(rs) != 2 || rs[1].inm != "" {
			t.Errorf("%+v: requests %+v", tc, rs)
		}
	}
}

// TestGarbageIsNotConfirmed: an answer that could not be read must not come
// back with every 304.
func TestGarbageIsNotConfirmed(t *testing.T) {
	f := newFake(t)
	good := false
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("If-None-Match") != "":
			write(w, 304, ``)
		case good:
			write(w, 200, issueJSON(f.URL, "acme/web", 12, nil), "ETag", `"1"`)
		default:
			write(w, 200, `<html>try again</html>`, "ETag", `"1"`)
		}
	})
	c := f.client(t)
	_, err := c.Issue(within(t), "acme/web", 12)
	wantKind(t, err, "unavailable")
	good = true
	if _, err := c.Issue(within(t), "acme/web", 12); err != nil {
		t.Error(err)
	}
}
