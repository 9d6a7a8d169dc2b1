package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Store is where planbridge remembers. Its URL may hold a password, so
// whatever prints, logs or encodes a Store gets [Store.Redacted].
type Store struct {
	// URL is file:PATH, a path relative to the working directory, or
	// redis://… or rediss://…. The file may say env:NAME instead.
	URL    string `yaml:"url"`
	Prefix string `yaml:"prefix"` // of all keys in a Redis
}

// File returns the path of an embedded store, and whether it is one.
func (s Store) File() (string, bool) {
	name, ok := strings.CutPrefix(s.URL, "file:")
	if strings.HasPrefix(name, "///") {
		name = name[2:]
	}
	return name, ok
}

// Kind names the kind of store: file or redis.
func (s Store) Kind() string {
	if _, ok := s.File(); ok {
		return "file"
	}
	return "redis"
}

// Check reports what is wrong with the URL.
func (s Store) Check() error {
	if want := wantStoreURL(s); want != "" {
		return fmt.Errorf("store %s, expected %s", s.Redacted(), want)
	}
	return nil
}

// Redacted returns the URL without what may be secret: its user and
// password, and its query (Sentinel's password is given there).
func (s Store) Redacted() string {
	if _, ok := s.File(); ok {
		return s.URL
	}
	return redact(s.URL)
}

// redact hides what a URL may hold that is not for logs.
func redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return "(not shown)"
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	return u.String()
}

// Format prints the redacted URL whatever the verb.
func (s Store) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, s.Redacted()) }

// LogValue logs the redacted URL.
func (s Store) LogValue() slog.Value { return slog.StringValue(s.Redacted()) }

// MarshalJSON encodes the redacted URL and the prefix.
func (s Store) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"URL": s.Redacted(), "Prefix": s.Prefix})
}
