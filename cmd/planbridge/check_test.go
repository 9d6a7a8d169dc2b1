package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/preflight"
)

// A store that a running service holds is looked at through it.
func TestCheckLinksOfService(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	op.fine("import")
	if err := op.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	if text := plain(op.fine("check")); !strings.Contains(text, "ok  links: all 2 are where their routes lead\n") {
		t.Errorf("check:\n%s", text)
	}
	admin := op.world.App.AdminAddr()
	op.write(replace(`admin_listen: "127.0.0.1:0"`, `admin_listen: "`+admin+`"`, "bucket: Incoming", "bucket: Later"))
	if text := plain(op.fine("check")); !strings.Contains(text, `ok  links: route acme/web: 2 links stay with acme/web and bucket "Incoming": the route is for acme/web and bucket "Later"`) {
		t.Errorf("check of another bucket:\n%s", text)
	}
	op.write(nil) // the address is that of no service
	if text := plain(op.fine("check")); !strings.Contains(text, "warn  links: whether links stay where no route leads now was not looked at: ") {
		t.Errorf("check without the service's address:\n%s", text)
	}
}

// What is not the whole list, or no list, is not counted.
func TestCheckLinksBroken(t *testing.T) {
	op := older(t, bridgetest.Options{})
	if err := op.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"links":[{"id":"a"}],"more":false,"error":"the store broke"}`: "the list of links is not complete: the store broke",
		`{"links":[{"id":"a"}],"more":true}`:                            "there are more than 1000000 links",
		`{"links":[{"id":"a"}`:                                          "the list of links is not planbridge's: ",
		`["links"]`:                                                     "the list of links is not planbridge's: ",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		t.Cleanup(s.Close)
		op.write(replace(`admin_listen: "127.0.0.1:0"`, `admin_listen: "`+s.Listener.Addr().String()+`"`))
		if text := plain(op.fine("check")); !strings.Contains(text, "leads now was not looked at: ") || !strings.Contains(text, want) {
			t.Errorf("check with %s:\n%s", answer, text)
		}
	}
}

// TestCheckCountsItsLines: a fact about several repositories is one line, and counts as one.
func TestCheckCountsItsLines(t *testing.T) {
	var out strings.Builder
	err := (&checkCmd{}).report(&out, []preflight.Finding{
		{Level: preflight.LevelWarn, Place: "repository acme/a", Words: "there is no webhook"},
		{Level: preflight.LevelWarn, Place: "repository acme/b", Words: "there is no webhook"},
		{Level: preflight.LevelOK, Place: "store", Words: "it can be read"},
	})
	if text := out.String(); err != nil || strings.Count(text, "warn") != 2 || !strings.HasSuffix(text, "\n0 faults, 1 warning, 1 ok\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}
