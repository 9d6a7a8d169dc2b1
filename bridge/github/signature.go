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
	// ErrSignature: a webhook does not carry the signature of any secret.
	ErrSignature = errors.New("signature does not match")
	// ErrPayload: a webhook's body is not what GitHub sends.
	ErrPayload = errors.New("malformed payload")
)

// VerifySignature checks the header X-Hub-Signature-256 over the raw body, given in
// parts. Any of the secrets will do, so that they can be rotated, and which one did is returned; an empty secret, which
// anybody could sign with, never does. SHA-1 (X-Hub-Signature) is not taken.
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

// Payload takes the JSON out of a webhook's body, which comes as it is or as
// a form's payload=, whichever the hook is set to. The signature is over the
// body, not over this.
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
