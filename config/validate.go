package config

import (
	"cmp"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// minMarkerKey is the least length of a marker key in bytes. It catches mistakes and recommends
// nothing (RFC 2104 section 3 advises the hash's 32).
const minMarkerKey = 8

// Validate checks the meaning of the configuration, beyond types. It returns nil or [Faults].
// [Load] calls it. A Config made in Go has no defaults and must set everything.
func (c *Config) Validate() error {
	k := &checker{src: c.src, seen: map[string]bool{}}
	k.server(c.Server)
	k.github(&c.GitHub)
	k.webhooks(c)
	k.planning(&c.Planning)
	k.users(c.Users)
	k.value("store.url", c.Store.Redacted(), wantStoreURL(c.Store))
	k.text("store.prefix", c.Store.Prefix, wantKeyPrefix)
	k.markerKeys(c.MarkerKeys)
	k.labels(c.Labels)
	k.count("brakes.creates_per_minute", c.Brakes.CreatesPerMinute, 100_000)
	k.count("brakes.closes_per_minute", c.Brakes.ClosesPerMinute, 100_000)
	k.count("retry.max_attempts", c.Retry.MaxAttempts, 1000)
	k.duration("coalesce", c.Coalesce, 0, 30*time.Second)
	k.ledger(c)
	k.duration("retry.max_interval", c.Retry.MaxInterval, time.Second, 24*time.Hour)
	for i, name := range c.Include {
		k.required(fmt.Sprintf("include[%d]", i), name, wantFile)
	}
	k.routes(c)
	var files []string
	if c.src != nil {
		files = c.src.files
	}
	return k.faults.asError(files)
}

// Bounds on ledger_retention. Undoing a conflict, and finding its comment again, need its entry
// for some time.
const leastRetention, mostRetention = 24 * time.Hour, 100 * 365 * 24 * time.Hour

func (k *checker) ledger(c *Config) {
	if d := c.LedgerRetention; d != 0 && (d < leastRetention || d > mostRetention) && k.says("ledger_retention") {
		k.fault("ledger_retention", d.String(), fmt.Sprintf("a duration from %v to %v, or 0 to keep all", leastRetention, mostRetention))
	}
	k.text("ledger_archive", c.LedgerArchive, wantFile)
	if c.VerifyInterval != 0 {
		k.duration("verify_interval", c.VerifyInterval, 100*time.Millisecond, 365*24*time.Hour)
	}
}

// checker collects faults with their positions.
type checker struct {
	src    *source
	seen   map[string]bool // keys with a fault from this checker
	faults Faults
}

// fault reports a fault at a key, unless the key has one already.
func (k *checker) fault(path, found, want string) {
	if k.seen[path] || k.failed(path) {
		return
	}
	k.seen[path] = true
	f := Fault{Path: inFile(path), Found: found, Want: want}
	if k.src != nil {
		p := k.src.find(path)
		f.File, f.Line, f.Column = p.file, p.line, p.column
	}
	k.faults = append(k.faults, f)
}

// says reports whether a key itself has the value. A default needs no check, and the file's
// defaults are checked by themselves.
func (k *checker) says(path string) bool { return k.src == nil || k.src.says(path) }

// failed reports whether the decoder found a fault at the key.
func (k *checker) failed(path string) bool { return k.src != nil && k.src.failed[path] }

// isGiven reports whether a required key is present, even with a fault of its own.
func (k *checker) isGiven(path string, set bool) bool {
	return set || k.src != nil && k.src.says(path)
}

// value reports a value that differs from want; want is "" for a good one.
func (k *checker) value(path, found, want string) {
	if want != "" && k.says(path) {
		k.fault(path, quote(found), want)
	}
}

func (k *checker) text(path, s string, want func(string) string) { k.value(path, s, want(s)) }

func (k *checker) texts(path string, list []string, want func(string) string) {
	for i, s := range list {
		k.text(fmt.Sprintf("%s[%d]", path, i), s, want)
	}
}

// required checks the text of a key without a default.
func (k *checker) required(path, s string, want func(string) string) {
	if k.isGiven(path, s != "") {
		k.text(path, s, want)
	} else {
		k.fault(path, "nothing", want(s))
	}
}

func (k *checker) oneOf(path, s string, known ...string) {
	if !slices.Contains(known, s) {
		k.value(path, s, "one of "+strings.Join(known, ", ")+suggest(s, known))
	}
}

// count reports a number outside 1 to most.
func (k *checker) count(path string, n, most int) {
	if (n < 1 || n > most) && k.says(path) {
		k.fault(path, strconv.Itoa(n), fmt.Sprintf("a number from 1 to %d", most))
	}
}

func (k *checker) duration(path string, d, least, most time.Duration) {
	if (d < least || d > most) && k.says(path) {
		k.fault(path, d.String(), fmt.Sprintf("a duration from %v to %v", least, most))
	}
}

func (k *checker) secret(path string, s Secret) {
	if !k.isGiven(path, !s.IsZero()) {
		k.fault(path, "nothing", "env:NAME or file:PATH")
	}
}

// token is a secret that goes into an HTTP header.
func (k *checker) token(path string, s Secret) {
	if strings.ContainsFunc(s.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		k.fault(path, "a secret with blanks or other characters that no header takes", "printable ASCII only")
	}
}

func (k *checker) server(s Server) {
	k.text("server.listen", s.Listen, wantListen)
	k.text("server.admin_listen", s.AdminListen, wantListen)
	k.token("server.admin_token", s.AdminToken)
	k.texts("server.admin_hosts", s.AdminHosts, wantHost)
	k.proxies(s)
	if s.ProtectMetrics && !k.isGiven("server.admin_token", !s.AdminToken.IsZero()) {
		k.fault("server.protect_metrics", "true", "server.admin_token to be set, which is what is demanded then")
	}
	host, port, err := net.SplitHostPort(s.AdminListen)
	if err != nil {
		return
	}
	if s.Listen == s.AdminListen && port != "0" {
		k.fault("server.admin_listen", quote(s.AdminListen), "another address than that of server.listen")
	}
	if !loopback(host) && !k.isGiven("server.admin_token", !s.AdminToken.IsZero()) {
		k.fault("server.admin_listen", quote(s.AdminListen), "a loopback address, or server.admin_token to guard it")
	}
}

// proxies checks the networks that may name the acting user.
func (k *checker) proxies(s Server) {
	k.texts("server.trusted_proxies", s.TrustedProxies, wantNetwork)
	if s.AdminUserHeader == "" {
		return
	}
	k.text("server.admin_user_header", s.AdminUserHeader, wantHeader)
	if len(s.TrustedProxies) == 0 && !k.failed("server.trusted_proxies") {
		k.fault("server.trusted_proxies", "nothing", "the addresses of the proxies that are believed about server.admin_user_header")
	}
}

func (k *checker) github(g *GitHub) {
	k.value("github.api_url", redact(g.APIURL), wantURL(g.APIURL))
	hasToken := k.isGiven("github.token", !g.Token.IsZero())
	switch {
	case !hasToken && g.App == nil:
		k.fault("github", "neither token nor app", "one of the two")
	case hasToken && g.App != nil:
		k.fault("github.app", "both token and app", "one of the two")
	}
	k.token("github.token", g.Token)
	if g.App != nil {
		k.app(g.App)
	}
	k.duration("github.catch_up_interval", g.CatchUpInterval, 100*time.Millisecond, 24*time.Hour)
	k.duration("github.settle", g.Settle, 10*time.Millisecond, time.Hour)
	k.duration("github.enter_delay", g.EnterDelay, 0, 10*time.Minute)
	k.count("github.writes_per_minute", g.WritesPerMinute, 10_000)
	k.count("github.writes_per_hour", g.WritesPerHour, 600_000)
	k.count("github.edits_per_minute", g.EditsPerMinute, 10_000)
	k.count("github.points_per_minute", g.PointsPerMinute, 100_000)
	k.texts("github.former_accounts", g.FormerAccounts, wantLogin)
}

func (k *checker) app(a *App) {
	switch {
	case !k.isGiven("github.app.id", a.ID != 0):
		k.fault("github.app.id", "nothing", "the app's id")
	case a.ID <= 0:
		k.fault("github.app.id", strconv.FormatInt(a.ID, 10), "the app's id, a number above 0")
	}
	k.secret("github.app.private_key", a.PrivateKey)
	if !a.PrivateKey.IsZero() && !isRSAKey(a.PrivateKey.Reveal()) {
		k.fault("github.app.private_key", "a secret that is something else", "an RSA private key in PEM, as GitHub hands it out")
	}
}

func isRSAKey(s string) bool {
	block, _ := pem.Decode([]byte(s))
	if block == nil {
		return false
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return true
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	_, isRSA := key.(*rsa.PrivateKey)
	return err == nil && isRSA
}

func (k *checker) planning(p *Planning) {
	if k.isGiven("planning.base_url", p.BaseURL != "") {
		k.value("planning.base_url", redact(p.BaseURL), wantURL(p.BaseURL))
	} else {
		k.fault("planning.base_url", "nothing", wantURL(""))
	}
	k.value("planning.card_url", p.CardURL, wantCardURL(p.CardURL))
	k.duration("planning.poll_interval", p.PollInterval, 100*time.Millisecond, 24*time.Hour)
	k.duration("planning.poll_min", p.PollMin, 100*time.Millisecond, 24*time.Hour)
	k.duration("planning.task_sweep_interval", p.TaskSweepInterval, 100*time.Millisecond, 7*24*time.Hour)
	k.duration("planning.settle", p.Settle, 10*time.Millisecond, time.Hour)
	if len(p.Projects) == 0 && !k.failed("planning.projects") {
		k.fault("planning.projects", "nothing", "one project or more, each with id, secret and username")
	}
	ids := map[string]string{} // the project of each id
	for _, name := range k.ordered("planning.projects", slices.Collect(maps.Keys(p.Projects))) {
		path, project := joinPath("planning.projects", name), p.Projects[name]
		if want := wantPlainName(name); want != "" {
			k.fault(path, "the name "+quote(name), want)
		}
		k.required(path+".id", project.ID, wantObjectID)
		k.secret(path+".secret", project.Secret)
		k.token(path+".secret", project.Secret)
		k.required(path+".username", project.Username, wantLine)
		id := strings.ToLower(project.ID)
		if first, doubled := ids[id]; doubled && id != "" {
			k.fault(path+".id", quote(project.ID), "an id of its own: it is that of "+first+" already")
		}
		ids[id] = name
	}
}

// ordered sorts the keys of a mapping by their order in the file.
func (k *checker) ordered(path string, keys []string) []string {
	slices.SortFunc(keys, func(a, b string) int {
		if k.src == nil {
			return cmp.Compare(a, b)
		}
		p, q := k.src.find(joinPath(path, a)), k.src.find(joinPath(path, b))
		return cmp.Or(slices.Index(k.src.files, p.file)-slices.Index(k.src.files, q.file), p.line-q.line, p.column-q.column, cmp.Compare(a, b))
	})
	return keys
}

// foldedKeys checks the keys of a case-insensitive mapping.
func (k *checker) foldedKeys(path string, keys []string, want func(string) string) {
	seen := map[string]string{}
	for _, key := range k.ordered(path, keys) {
		if w := want(key); w != "" && k.says(path) {
			k.fault(joinPath(path, key), "the key "+quote(key), w)
		}
		folded := strings.ToLower(key)
		if first, doubled := seen[folded]; doubled && k.says(path) {
			k.fault(joinPath(path, key), "the key "+quote(key), "it once: "+quote(first)+" is the same on GitHub")
		}
		seen[folded] = key
	}
}

func (k *checker) users(users map[string]string) {
	k.foldedKeys("users", slices.Collect(maps.Keys(users)), wantLogin)
	for name, username := range users {
		k.text(joinPath("users", name), username, wantLine)
	}
}

func (k *checker) markerKeys(keys []Secret) {
	if len(keys) == 0 && !k.failed("marker_key") {
		k.fault("marker_key", "nothing", "env:NAME or file:PATH, or a list of these")
	}
	for i, key := range keys {
		path := "marker_key"
		if element := fmt.Sprintf("marker_key[%d]", i); k.src == nil || k.src.says(element) {
			path = element
		}
		k.secret(path, key)
		if !key.IsZero() && len(key.Reveal()) < minMarkerKey {
			k.fault(path, fmt.Sprintf("a secret of %d bytes", len(key.Reveal())), fmt.Sprintf("%d bytes or more", minMarkerKey))
		}
	}
}

// labels checks that no label has two meanings.
func (k *checker) labels(l Labels) {
	k.text("labels.prefix", l.Prefix, wantLabelPrefix)
	k.text("labels.in_progress", l.InProgress, wantLabel)
	k.text("labels.estimate", l.Estimate, wantLabelPattern)
	k.text("labels.hours", l.Hours, wantLabelPattern)
	if l.Card != "" {
		k.text("labels.card", l.Card, wantLabelPattern)
		if strings.EqualFold(l.Card, l.Estimate) || strings.EqualFold(l.Card, l.Hours) {
			k.fault("labels.card", quote(l.Card), "another pattern than labels.estimate and labels.hours")
		}
	}
	if strings.EqualFold(l.Estimate, l.Hours) {
		k.fault("labels.hours", quote(l.Hours), "another pattern than labels.estimate")
	}
	for _, owned := range []struct{ path, label string }{
		{"labels.in_progress", l.InProgress}, {"labels.estimate", l.Estimate}, {"labels.hours", l.Hours}, {"labels.card", l.Card},
	} {
		for _, prefix := range []string{l.Prefix, "bucket:"} {
			if prefix != "" && strings.HasPrefix(strings.ToLower(owned.label), strings.ToLower(prefix)) {
				k.fault(owned.path, quote(owned.label), "a label that does not begin with "+quote(prefix)+", which is the bridge's own")
			}
		}
	}
}
