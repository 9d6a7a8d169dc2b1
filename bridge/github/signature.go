package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"
)

var (
	// ErrSignature: no secret matches a webhook's signature.
	ErrSignature = errors.New("signature does not match")
	// ErrPayload: a webhook's body is malformed.
	ErrPayload = errors.New("malformed payload")
)

// VerifySignature checks the header X-Hub-Signature-256 over the raw body, given in parts. It
// returns the first matching secret, so that secrets can be rotated. An empty secret, with which
// anybody could sign, never matches. It ignores SHA-1 (X-Hub-Signature).
func VerifySignature(secrets, body [][]byte, header string) (secret int, err error) {
	digest, ok := strings.CutPrefix(header, "sha256=")
	if !ok {
		return 0, fmt.Errorf("%w: no sha256= in it", ErrSignature)
	}
	sent, err := hex.DecodeString(digest)
	if err != nil {
		return 0, fmt.Errorf("%w: not hexadecimal", ErrSignature)
	}
	for i, secret := range secrets {
		if len(secret) == 0 {
			continue
		}
		mac := hmac.New(sha256.New, secret)
		for _, part := range body {
			mac.Write(part)
		}
		if hmac.Equal(sent, mac.Sum(nil)) {
			return i, nil
		}
	}
	return 0, ErrSignature
}

// Payload returns the JSON of a webhook's body, which is plain or a form's payload=, as the hook
// is set. The signature covers the body, not this JSON.
func Payload(contentType string, body []byte) ([]byte, error) {
	if contentType == "application/json" { // nearly always
		return body, nil
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, fmt.Errorf("%w: content type %q", ErrPayload, contentType)
	}
	switch kind {
	case "application/json":
		return body, nil
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil || !form.Has("payload") {
			return nil, fmt.Errorf("%w: form without payload", ErrPayload)
		}
		return []byte(form.Get("payload")), nil
	default:
		return nil, fmt.Errorf("%w: content type %q", ErrPayload, kind)
	}
}
