package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Store is the address of the store. Its URL may contain a password, so that printing, logging or
// encoding a Store gives [Store.Redacted].
type Store struct {
	// URL is file:PATH, with a path relative to the working directory, or redis://… or
	// rediss://…. The file may have env:NAME instead.
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

// Check returns an error for a bad URL.
func (s Store) Check() error {
	if want := wantStoreURL(s); want != "" {
		return fmt.Errorf("store %s, expected %s", s.Redacted(), want)
	}
	return nil
}

// Redacted returns the URL without its possible secrets: user, password, and query (which may
// have Sentinel's password).
func (s Store) Redacted() string {
	if _, ok := s.File(); ok {
		return s.URL
	}
	return redact(s.URL)
}

// redact removes the possible secrets of a URL.
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

// Format prints the redacted URL for every verb.
func (s Store) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, s.Redacted()) }

// LogValue logs the redacted URL.
func (s Store) LogValue() slog.Value { return slog.StringValue(s.Redacted()) }

// MarshalJSON encodes the redacted URL and the prefix.
func (s Store) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"URL": s.Redacted(), "Prefix": s.Prefix})
}
