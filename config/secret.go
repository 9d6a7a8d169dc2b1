package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
)

// Secret is a value that is never shown: printing, logging or encoding it gives a mask. The zero
// Secret is none.
//
// It holds a pointer, so that fmt prints an address even in an unexported field, where it cannot
// call methods.
type Secret struct{ value *string }

const mask = "[secret]"

// NewSecret hides s. An empty s is no secret.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{&s}
}

// Reveal returns the value, "" for the zero Secret.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.value == nil }

// Equal reports whether two secrets have the same value.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String returns the mask, "" for the zero Secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return mask
}

// Format prints the mask for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText encodes the mask. JSON and others use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML encodes the mask.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue logs the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// maxSecret bounds a secret's file in bytes; an RSA key of 16384 bits has 13 KiB.
const maxSecret = 64 << 10

// resolveSecret reads env:NAME or file:PATH (relative to the working directory, without one final
// line end). On failure found and want describe the fault, without the value, which may be a
// misplaced secret.
func resolveSecret(ref string, env func(string) (string, bool)) (s Secret, found, want string) {
	if name, ok := strings.CutPrefix(ref, "env:"); ok && envName.MatchString(name) {
		value, ok := env(name)
		switch {
		case !ok:
			return s, ref, "environment variable " + name + " to be set"
		case value == "":
			return s, ref, "environment variable " + name + " not to be empty"
		}
		return NewSecret(value), "", ""
	}
	if name, ok := strings.CutPrefix(ref, "file:"); ok && name != "" {
		value, err := readSecret(name)
		if err != nil {
			return s, ref, "a file with the secret: " + err.Error()
		}
		return NewSecret(value), "", ""
	}
	return s, "a value that is not shown", "env:NAME or file:PATH; a secret is never in this file"
}

func readSecret(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		// The fault already has the path.
		if pe, ok := errors.AsType[*os.PathError](err); ok {
			err = pe.Err
		}
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return "", errors.New("it cannot be read")
	case len(data) > maxSecret:
		return "", fmt.Errorf("it has more than %d bytes", maxSecret)
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if value == "" {
		return "", errors.New("it is empty")
	}
	return value, nil
}
