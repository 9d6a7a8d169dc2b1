package config

import (
	"net"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"planbridge/store/redisstore/redisurl"
)

// Each function below checks a form of value. It returns the expected form, or "" for a good
// value.

// wantURL wants the base URL of a service: https, or http on this machine, without parts that a
// base URL cannot have.
func wantURL(s string) string {
	const want = "an https URL (http only for a loopback address) without user, query or fragment"
	u, err := url.Parse(s)
	if err != nil || !dialled(u) || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return want
	}
	if u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()) {
		return ""
	}
	return want
}

// wantCardURL wants the pattern of a card's address, which names the card; "": none.
func wantCardURL(s string) string {
	p := &Planning{CardURL: s}
	u, err := url.Parse(p.CardPage("p", "c", 1))
	names := strings.Contains(s, "{card}") || strings.Contains(s, "{cid}")
	rest := p.CardPage("", "", 0)
	if s == "" || err == nil && dialled(u) && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") && names && !strings.ContainsAny(rest, "{}") {
		return ""
	}
	return "an https or http URL with {card} or {cid} in it, and {project} if need be"
}

// dialled reports whether a URL has a host and no impossible port.
func dialled(u *url.URL) bool {
	_, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Hostname() != "" && (u.Port() == "" || err == nil)
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

func wantHost(s string) string { return wantMatch(hostName, s, "a host's name without a port") }

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func wantHeader(s string) string { return wantMatch(headerName, s, "the name of an HTTP header") }

// wantNetwork wants an address or a network.
func wantNetwork(s string) string {
	_, err := netip.ParseAddr(s)
	if _, noPrefix := netip.ParsePrefix(s); err == nil || noPrefix == nil {
		return ""
	}
	return "an address, or a network such as 10.0.0.0/8"
}

// wantListen wants an address to listen on; with port 0 the system chooses.
func wantListen(s string) string {
	const want = "host:port or :port, the port a number up to 65535"
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return want
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return want
	}
	if _, err := netip.ParseAddr(host); host == "" || err == nil || hostName.MatchString(host) {
		return ""
	}
	return want
}

func wantStoreURL(s Store) string {
	const want = "file:PATH, redis://HOST:PORT/DB or rediss://HOST:PORT/DB, or env:NAME"
	if name, ok := s.File(); ok {
		if name == "" || strings.HasPrefix(name, "//") {
			return want
		}
		return ""
	}
	u, err := url.Parse(s.URL)
	if err != nil || !dialled(u) || u.Fragment != "" || u.Scheme != "redis" && u.Scheme != "rediss" {
		return want
	}
	_, wanted := redisurl.Parse(s.URL)
	return wanted
}

// A brace would make a hash tag of its own in Redis.
var keyPrefix = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)

func wantKeyPrefix(s string) string {
	return wantMatch(keyPrefix, s, "up to 64 letters, digits, _ . : -")
}

// An id is any string that the service uses (24 hexadecimal digits in every sample). Paths, keys
// and markers contain it.
var objectID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func wantObjectID(s string) string {
	return wantMatch(objectID, s, "the project's id, up to 64 letters, digits, _ -")
}

// wantFile wants the path of a file, or none.
func wantFile(s string) string {
	if s != "" && (wantLine(s) != "" || strings.HasSuffix(s, "/")) {
		return "the path of a file"
	}
	return ""
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func wantPlainName(s string) string {
	return wantMatch(plainName, s, "a name of letters, digits, _ . -")
}

// Logins of apps end in [bot], those of managed users have an underscore.
var login = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}(\[bot\])?$`)

func wantLogin(s string) string { return wantMatch(login, s, "a GitHub login") }

func wantMatch(re *regexp.Regexp, s, want string) string {
	if re.MatchString(s) {
		return ""
	}
	return want
}

// wantLine wants a short text without line ends and outer blanks.
func wantLine(s string) string {
	if s == "" || len(s) > 256 || s != strings.TrimSpace(s) || strings.ContainsFunc(s, isControl) {
		return "text on one line, without blanks around it"
	}
	return ""
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// maxLabel is GitHub's bound on a label's name, in characters.
const maxLabel = 50

func wantLabel(s string) string {
	if wantLine(s) != "" || strings.Contains(s, ",") || len([]rune(s)) > maxLabel {
		return "a label: up to 50 characters, no comma"
	}
	return ""
}

// wantLabelPattern wants a pattern whose labels GitHub takes for any short number.
func wantLabelPattern(s string) string {
	if wantLabel(s) != "" || strings.Count(s, ValuePlaceholder) != 1 {
		return "a label with " + ValuePlaceholder + " in it once: up to 50 characters, no comma"
	}
	return ""
}

// wantLabelPrefix leaves room for the longest suffix, "In Progress". A final blank is part of the
// prefix.
func wantLabelPrefix(s string) string {
	if wantLabel(s+"x") != "" || s == "" || len([]rune(s)) > maxLabel/2 {
		return "the beginning of a label: up to 25 characters, no comma"
	}
	return ""
}

var (
	repository = regexp.MustCompile(`^[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+$`)
	repoGlob   = regexp.MustCompile(`^[A-Za-z0-9_-]+/[][A-Za-z0-9_.*?^-]+$`)
)

// wantRepository wants owner/name, where the name may be a glob. The owner may not, as the bridge
// lists an owner's repositories.
func wantRepository(s string) string {
	_, err := path.Match(s, "")
	if err != nil || !repository.MatchString(s) && !repoGlob.MatchString(s) {
		return "owner/name, or a glob in the name such as owner/*"
	}
	return ""
}

// wantRepositoryName wants owner/name without a glob.
func wantRepositoryName(s string) string { return wantMatch(repository, s, "owner/name") }
