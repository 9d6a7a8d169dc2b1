package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSignature(t *testing.T) {
	equal(t, "GitHub's own vector", Sign("It's a Secret to Everybody", []byte("Hello, World!")),
		"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
}

func TestHeadersAndForms(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	w.open("ü & = one")
	w.idle()
	w.s.SetTraits(func(x *Traits) { x.FormPayload = true })
	w.open("two & = ü")
	got := w.expect("issues.opened", "issues.opened")
	for n, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
		h := got[n].header
		equal(t, "content type", h.Get("Content-Type"), kind)
		equal(t, "signature of the raw body", h.Get("X-Hub-Signature-256"), Sign(secretKey, got[n].raw))
		equal(t, "hook", h.Get("X-GitHub-Hook-ID"), fmt.Sprint(w.hook))
		equal(t, "target", h.Get("X-GitHub-Hook-Installation-Target-Type"), "repository")
		if !strings.HasPrefix(h.Get("User-Agent"), "GitHub-Hookshot/") || len(h.Get("X-GitHub-Delivery")) != 36 {
			t.Errorf("headers %v", h)
		}
	}
	equal(t, "title through the form", got[1].at("issue", "title"), "two & = ü")
}

func TestHooksOfOrganizationAndAppAndTheirEvents(t *testing.T) {
	w := newWorld(t, Options{})
	org, app, other, unsigned := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
	w.s.AddHook("acme", org.URL, secretKey, "issues")
	a := w.s.AddApp("planbridge", "acme")
	w.s.AddAppHook(a, app.URL, secretKey)
	w.s.AddHook("initech", other.URL, secretKey)
	w.s.AddHook("acme/web", unsigned.URL, "", "issue_comment")
	w.idle()
	equal(t, "ping", names(org.take()), []string{"ping"})
	for _, in := range []*receiver{app, other, unsigned} {
		in.take()
	}
	w.r.Comment(w.open("one"), "bob", "hi")
	w.idle()
	fromOrg, fromApp, fromRepo := org.take(), app.take(), unsigned.take()
	equal(t, "org", names(fromOrg), []string{"issues.opened"})
	equal(t, "app", names(fromApp), []string{"issues.opened", "issue_comment.created"})
	equal(t, "repository", names(fromRepo), []string{"issue_comment.created"})
	equal(t, "other", names(other.take()), []string{})
	equal(t, "same event, same GUID", fromOrg[0].guid, fromApp[0].guid)
	equal(t, "installation", fromApp[0].at("installation", "id"), a.Installation)
	equal(t, "only for the App", fromOrg[0].at("installation"), nil)
	equal(t, "no secret, no signature", fromRepo[0].header.Get("X-Hub-Signature-256"), "")
	equal(t, "org's target", fromOrg[0].header.Get("X-GitHub-Hook-Installation-Target-Type"), "organization")
}

func TestHooksAndDeliveriesByAPI(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	orgHook := w.s.AddHook("acme", w.in.URL, "")
	a := w.s.AddApp("planbridge", "acme")
	w.s.AddAppHook(a, w.in.URL, "")
	w.idle()
	for n := range 3 {
		w.open(fmt.Sprint("issue ", n))
	}
	w.idle()
	app := []string{"Authorization", "Bearer " + jwt(t, a, time.Minute)}
	hooks := w.get("/repos/acme/web/hooks").want(200)
	equal(t, "hooks", hooks.list("id"), []int64{w.hook})
	equal(t, "secret is not shown", hooks.list("config")[0].(fields)["secret"], "********")
	equal(t, "org's hooks", w.get("/orgs/acme/hooks").want(200).list("id"), []int64{orgHook})
	equal(t, "app's hook", w.get("/app/hook/config", app...).want(200).obj()["url"], w.in.URL)
	w.get("/repos/acme/web/hooks", "Authorization", "Bearer "+weakToken).want(404)
	w.get("/app/hook/deliveries").want(401)

	for base, headers := range map[string][]string{
		fmt.Sprintf("/repos/acme/web/hooks/%d/deliveries", w.hook): nil,
		fmt.Sprintf("/orgs/acme/hooks/%d/deliveries", orgHook):     nil, "/app/hook/deliveries": app,
	} {
		first := w.get(base+"?per_page=2", headers...).want(200)
		equal(t, "newest first", first.list("event"), []string{"issues", "issues"})
		second := w.get(first.next(), headers...).want(200)
		equal(t, "then the older", second.list("event"), []string{"issues", "ping"})
		equal(t, "the end", second.next(), "")
		one := fmt.Sprintf("%s/%.0f", base, first.list("id")[0])
		full := w.get(one, headers...).want(200)
		equal(t, "payload", full.obj("request", "payload", "issue")["title"], "issue 2")
		equal(t, "guid", full.obj("request", "headers")["X-Github-Delivery"], first.list("guid")[0])
		w.in.take()
		w.do("POST", one+"/attempts", nil, headers...).want(202)
		again := w.expect("issues.opened")
		equal(t, "same guid", again[0].guid, first.list("guid")[0])
		equal(t, "listed as a redelivery", w.get(base, headers...).want(200).list("redelivery")[0], true)
		w.get(base+"/1", headers...).want(404)
		w.do("POST", base+"/1/attempts", nil, headers...).want(404)
		w.get(base+"?cursor=v1_1", headers...).want(422)
	}
	w.get("/repos/acme/web/hooks/1/deliveries").want(404)
	w.do("POST", fmt.Sprintf("/repos/acme/web/hooks/%d/pings", w.hook), nil).want(204)
	w.expect("ping")
	w.do("POST", "/repos/acme/web/hooks/1/pings", nil).want(404)
	equal(t, "none of these is a write", w.s.Writes(), 0)
}

func TestFailedDeliveriesAreLoggedAndRedelivered(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	w.in.answer(http.StatusServiceUnavailable)
	w.open("one")
	w.idle()
	w.in.answer(http.StatusOK)
	log := w.s.Deliveries()
	last := log[len(log)-1]
	equal(t, "status", []any{last.Status, last.Event, last.Action, last.Number, last.Repo}, []any{503, "issues", "opened", 1, "acme/web"})
	w.s.Redeliver(last.GUID)
	w.expect("issues.opened", "issues.opened")
	log = w.s.Deliveries()
	equal(t, "redelivery", []any{log[len(log)-1].Redelivery, log[len(log)-1].Status}, []any{true, 200})
	w.in.Close()
	w.open("two")
	w.idle()
	log = w.s.Deliveries()
	equal(t, "no answer", log[len(log)-1].Status, 502)
}

func TestDropping(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	w.s.DropNext(1)
	w.open("one")
	w.open("two")
	got := w.expect("issues.opened")
	equal(t, "the second came", got[0].at("issue", "title"), "two")
	codes := func() []any {
		return w.get(fmt.Sprintf("/repos/acme/web/hooks/%d/deliveries", w.hook)).want(200).list("status_code")
	}
	equal(t, "listed as failed", codes(), []int{202, 502, 202})
	w.s.SetTraits(func(x *Traits) { x.Drop, x.LoseDropped = 1, true })
	w.open("three")
	w.expect()
	equal(t, "lost without a trace", codes(), []int{202, 502, 202})
	equal(t, "but in the log", w.s.Deliveries()[3].Drop, true)
}

func TestDoublingAndControl(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{Double: 1}}).hooked()
	w.open("one")
	got := w.expect("issues.opened", "issues.opened")
	equal(t, "same GUID", got[0].guid, got[1].guid)
	w.s.SetTraits(func(x *Traits) { x.Double = 0 })
	w.s.SetDelivery(func(d *Delivery) {
		switch d.Action {
		case "labeled":
			d.Copies = 3
		case "closed":
			d.Drop = true
		case "opened":
			d.Delay = time.Millisecond
		}
	})
	w.open("two", "bug")
	w.r.Close(2, "bob", "")
	w.expect("issues.labeled", "issues.labeled", "issues.labeled", "issues.opened")
	w.s.SetDelivery(nil)
	w.r.Reopen(2, "bob")
	w.expect("issues.reopened")
}

func TestPausedDeliveriesWaitAndCanBeShuffled(t *testing.T) {
	w := newWorld(t, Options{Seed: 7}).hooked()
	w.s.PauseDeliveries()
	var in []string
	for n := range 8 {
		title := fmt.Sprint("issue ", n)
		in = append(in, title)
		w.open(title)
	}
	w.expect() // Idle does not wait for them
	equal(t, "waiting", len(w.s.Deliveries()), 9)
	w.s.ShuffleDeliveries()
	w.s.ReleaseDeliveries()
	var out []string
	for _, e := range w.events() {
		out = append(out, e.at("issue", "title").(string))
	}
	if slices.Equal(in, out) {
		t.Errorf("order %v", out)
	}
	slices.Sort(out)
	equal(t, "all came", out, in)
}

func TestReorderMixesButLosesNothing(t *testing.T) {
	w := newWorld(t, Options{Seed: 3, Traits: Traits{Reorder: 40 * time.Millisecond}}).hooked()
	n := w.open("one")
	for k := range 12 {
		w.r.Label(n, "bob", fmt.Sprint(k))
	}
	got := w.events()
	equal(t, "all came", len(got), 13)
	order := []any{}
	for _, e := range got {
		order = append(order, e.at("label", "name"))
	}
	sorted := slices.IsSortedFunc(got, func(a, b received) int {
		return len(a.at("issue", "labels").([]any)) - len(b.at("issue", "labels").([]any))
	})
	if sorted {
		t.Errorf("in order: %v", order)
	}
}

func TestHoursLateArriveWhenTheClockMoves(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	w.s.SetTraits(func(x *Traits) { x.HoursLate = 3 })
	w.open("one")
	w.s.Advance(2 * time.Hour)
	if got := w.in.take(); len(got) != 0 {
		t.Errorf("early: %v", names(got))
	}
	w.s.Advance(time.Hour)
	w.expect("issues.opened")
	w.s.SetTraits(func(x *Traits) { x.HoursLate, x.Delay = 0, 5*time.Millisecond })
	start := time.Now()
	w.open("two")
	w.expect("issues.opened")
	if d := time.Since(start); d < 5*time.Millisecond {
		t.Errorf("after %s", d)
	}
}

func TestEchoBeforeAnswer(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{EchoBeforeAnswer: true}}).hooked()
	w.do("POST", "/repos/acme/web/issues", fields{"title": "one", "labels": []string{"bug"}}).want(201)
	equal(t, "here already", names(w.in.take()), []string{"issues.opened", "issues.labeled"})
	w.s.PauseDeliveries()
	w.do("POST", "/repos/acme/web/issues", fields{"title": "two"}).want(201) // does not hang
}

func TestOpenedBare(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{OpenedBare: true}}).hooked()
	w.open("one", "bug")
	got := w.expect("issues.opened", "issues.labeled")
	equal(t, "opened", got[0].at("issue", "labels"), []any{})
	equal(t, "labeled", len(got[1].at("issue", "labels").([]any)), 1)
}
