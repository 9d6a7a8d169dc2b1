package webhook

import (
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// maxHeader bounds, in bytes, the headers that become keys of the store.
const maxHeader = 128

// admit checks the headers of a request before its body is read. key is the store's key of the
// delivery.
func admit(h http.Header, key string) error {
	signatures := h.Values(headerSignature)
	switch {
	case len(signatures) == 0:
		return unsigned("no " + headerSignature)
	case len(signatures) > 1:
		return unsigned("more than one " + headerSignature)
	case !wellFormedSignature(signatures[0]):
		return unsigned(headerSignature + " is not sha256= and 64 hexadecimal digits")
	}
	if err := knownContent(h.Values("Content-Type")); err != nil {
		return bad(err)
	}
	switch events, ids, hooks := h.Values(headerEvent), h.Values(headerDelivery), h.Values(headerHook); {
	case len(events) != 1 || events[0] == "":
		return bad(errors.New("not one " + headerEvent))
	case len(ids) != 1 || !isIdentifier(ids[0]):
		return bad(errors.New("not one well-formed " + headerDelivery))
	case len(hooks) > 1 || len(hooks) == 1 && !isIdentifier(hooks[0]):
		return bad(errors.New(headerHook + " is malformed"))
	case len(key) > maxHeader:
		return bad(fmt.Errorf("%s and %s are over %d bytes", headerHook, headerDelivery, maxHeader))
	}
	return nil
}

func unsigned(why string) *fault {
	return &fault{http.StatusUnauthorized, forged, errors.New(why)}
}

func wellFormedSignature(s string) bool {
	digest, ok := strings.CutPrefix(s, "sha256=")
	_, err := hex.DecodeString(digest)
	return ok && err == nil && len(digest) == 64
}

// knownContent returns an error unless there is one content type, and GitHub delivers it.
func knownContent(types []string) error {
	if len(types) != 1 {
		return fmt.Errorf("%d content types", len(types))
	}
	if types[0] == "application/json" { // nearly always
		return nil
	}
	kind, _, err := mime.ParseMediaType(types[0])
	if err != nil || kind != "application/json" && kind != "application/x-www-form-urlencoded" {
		return fmt.Errorf("content type %q", clip(types[0]))
	}
	return nil
}

// isIdentifier reports whether s is visible ASCII and not empty. A colon is forbidden, as it
// would make two identifiers look alike.
func isIdentifier(s string) bool {
	return s != "" && len(s) <= maxHeader && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' })
}
