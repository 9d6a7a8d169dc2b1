package github

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"planbridge/mapping"
)

// MovedError is the error of a redirect: see [mapping.MovedError].
type MovedError = mapping.MovedError

// notSent marks an error of a layer below http.Client: its request certainly had no effect. err
// is classified already.
type notSent struct{ err error }

func (e *notSent) Error() string { return e.err.Error() }
func (e *notSent) Unwrap() error { return e.err }

// lost is the error of a lost or unreadable answer: a read did not happen, and a write may have.
func lost(k class) error {
	if k.writes() {
		return mapping.ErrUncertain
	}
	return mapping.ErrUnavailable
}

// transportError classifies an error of http.Client.
func transportError(err error, k class) error {
	if known, ok := errors.AsType[*notSent](err); ok {
		return known.err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("%w: %w", lost(k), err)
}

// apiError is the body of a refusal. errors holds objects or plain strings.
type apiError struct {
	Message string
	Errors  json.RawMessage
	DocURL  string `json:"documentation_url"`
}

type apiErrorDetail struct{ Resource, Field, Code, Message string }

func parseAPIError(body []byte) (e apiError, details []apiErrorDetail) {
	if json.Unmarshal(body, &e) != nil {
		return apiError{}, nil // a proxy's or unicorn's page; the status suffices
	}
	var raw []json.RawMessage
	if json.Unmarshal(e.Errors, &raw) != nil {
		raw = []json.RawMessage{e.Errors} // sometimes a single string
	}
	for _, r := range raw {
		var d apiErrorDetail
		if json.Unmarshal(r, &d) != nil {
			d = apiErrorDetail{}
			_ = json.Unmarshal(r, &d.Message) // otherwise it has no message
		}
		if d != (apiErrorDetail{}) {
			details = append(details, d)
		}
	}
	return e, details
}

// errorMessage joins all messages of a refusal to one bounded line.
func errorMessage(e apiError, details []apiErrorDetail) string {
	parts := []string{e.Message}
	for _, d := range details {
		if d.Message != "" {
			parts = append(parts, d.Message)
		} else {
			parts = append(parts, strings.TrimSpace(d.Resource+" "+d.Field+" "+d.Code))
		}
	}
	s := strings.Join(strings.Fields(strings.Join(parts, ": ")), " ")
	const most = 500
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// statusError classifies an answer other than 2xx. The wire has already turned rate limits into
// errors.
func statusError(status int, header http.Header, body []byte, k class) error {
	e, details := parseAPIError(body)
	said := errorMessage(e, details)
	switch {
	case status == http.StatusNotModified:
		return fmt.Errorf("%w: 304 without having asked", lost(k))
	case status/100 == 3:
		return movedTo(header.Get("Location"))
	case status == http.StatusUnauthorized:
		return told(mapping.ErrUnauthorized, said)
	case status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		return told(mapping.ErrForbidden, said)
	case status == http.StatusNotFound:
		return told(mapping.ErrNotFound, said)
	case status == http.StatusGone:
		return told(mapping.ErrGone, said)
	case status/100 == 4, status == http.StatusNotImplemented:
		return rejection(status, said, details)
	default:
		return told(lost(k), "answer "+strconv.Itoa(status))
	}
}

func told(sentinel error, said string) error {
	if said == "" {
		return sentinel
	}
	return fmt.Errorf("%w: %s", sentinel, said)
}

func rejection(status int, said string, details []apiErrorDetail) error {
	r := &mapping.Rejection{Status: status, Message: said}
	for _, d := range details {
		if r.Field == "" {
			r.Field = d.Field
		}
	}
	return r
}

func movedTo(location string) *MovedError {
	m := &MovedError{Location: location}
	if u, err := url.Parse(location); err == nil {
		m.Repo, m.Number = issuePlace(u.Path)
	}
	return m
}

// issuePlace reads owner/name and number from the path of an issue's API or page URL. Both are
// zero for any other path.
func issuePlace(path string) (repo string, number int) {
	e := strings.Split(strings.Trim(path, "/"), "/")
	for i := 0; i+2 < len(e); i++ {
		if e[i] == "repos" {
			repo = e[i+1] + "/" + e[i+2]
			if i+4 < len(e) && e[i+3] == "issues" {
				number, _ = strconv.Atoi(e[i+4]) // 0: unknown
			}
			return repo, number
		}
	}
	return "", 0
}

// graphqlError is one entry of errors. GraphQL answers 200 also for errors.
type graphqlError struct {
	Type, Message string
	Extensions    struct{ Code string } // set where the document does not fit the schema
}

// classify classifies an error about a whole document of a class.
func (e graphqlError) classify(k class) error {
	switch cmp.Or(e.Type, e.Extensions.Code) {
	case "NOT_FOUND":
		return told(mapping.ErrNotFound, e.Message)
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		return told(mapping.ErrForbidden, e.Message)
	case "RATE_LIMITED", "RATE_LIMIT":
		return &mapping.RateLimited{API: "github", After: headerlessWait, Why: "GraphQL limit"}
	case "": // "Something went wrong while executing your query", time-outs
		return told(lost(k), e.Message)
	default:
		return &mapping.Rejection{Status: http.StatusOK, Message: e.Message}
	}
}
