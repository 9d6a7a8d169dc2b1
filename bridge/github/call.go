package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"planbridge/mapping"
)

// class says which rate limits a request stands under.
type class int

const (
	classRead class = iota
	classWrite
	classGraphQL
	classMutation // a write that GraphQL takes
	classFree     // under none: /rate_limit
)

// writes reports whether what is of the class changes anything.
func (k class) writes() bool { return k == classWrite || k == classMutation }

// call is one request to be: what it is called in errors and metrics, and
// where it goes. It travels in the request's context down to the wire.
type call struct {
	op     string // "edit_issue": the metrics' label; in errors with spaces
	object string // "acme/web#12"
	owner  string // account whose installation an App uses
	path   string // escaped, relative to the API's root, or an absolute URL
	class  class  // do makes it classWrite for what is not a GET
	jwt    bool   // as the App itself, not as an installation
	fresh  bool   // neither asked conditionally nor kept
	paid   bool   // what it costs was taken before
	err    error  // the object cannot be named
}

type callKey struct{}

func withCall(ctx context.Context, k call) context.Context {
	return context.WithValue(ctx, callKey{}, k)
}

func callOf(ctx context.Context) call {
	k, _ := ctx.Value(callKey{}).(call)
	return k
}

// repoCall names a repository, "owner/name".
func repoCall(op, repo string) call {
	owner, name, _ := strings.Cut(repo, "/")
	k := call{op: op, object: repo, owner: owner}
	if !validName(owner) || !validName(name) {
		k.err = &mapping.Rejection{Field: "repository", Message: fmt.Sprintf("%q is not owner/name", repo)}
		return k
	}
	k.path = "repos/" + escape(owner) + "/" + escape(name)
	return k
}

func validName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.Contains(s, "/")
}

// issueCall names an issue of a repository.
func issueCall(op, repo string, number int) call {
	k := repoCall(op, repo).sub("issues", strconv.Itoa(number))
	k.object = fmt.Sprintf("%s#%d", repo, number)
	return k
}

// sub appends path elements, each escaped.
func (k call) sub(elements ...string) call {
	for _, e := range elements {
		k.path += "/" + escape(e)
	}
	return k
}

func (k call) query(v url.Values) call {
	k.path += "?" + v.Encode()
	return k
}

// escape makes s one element of a path. Label names hold anything: "c#",
// "a/b", "50%", and a lone ".." must not climb.
func escape(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// answer is what came back, 2xx.
type answer struct {
	status int
	header http.Header
	url    *url.URL // where it came from, after redirects
	body   []byte
	cached bool // a 304: the snapshot that we had is still the newest
}

// do makes one request: in is sent as JSON unless nil, the answer is decoded
// into out unless nil, which may then say that it is not whole. Its errors are complete: classified and wrapped.
func (c *Client) do(ctx context.Context, k call, method string, in, out any) (*answer, error) {
	if method != http.MethodGet && k.class == classRead {
		k.class = classWrite
	}
	a, err := c.exchange(ctx, k, method, in)
	if err == nil && out != nil {
		e := json.Unmarshal(a.body, out)
		if w, ok := out.(interface{ whole() error }); ok && e == nil {
			e = w.whole()
		}
		if e != nil {
			c.cache.forget(a.url.String()) // or its ETag would confirm it for good
			err = fmt.Errorf("%w: answer %d: %w", lost(k.class), a.status, e)
		}
	}
	if err != nil {
		return nil, k.wrap(err)
	}
	return a, nil
}

// wrap says once what was tried with what.
func (k call) wrap(err error) error {
	return fmt.Errorf("github: %s %s: %w", strings.ReplaceAll(k.op, "_", " "), k.object, err)
}

func (c *Client) exchange(ctx context.Context, k call, method string, in any) (*answer, error) {
	if k.err != nil {
		return nil, k.err
	}
	req, err := c.requests.NewRequest(method, k.path, in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mapping.ErrRejected, err)
	}
	leave, err := c.admit(ctx, k)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	}
	resp, err := c.http.Do(req.WithContext(withCall(ctx, k)))
	if err != nil {
		return nil, transportError(err, k.class)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, transportError(err, k.class)
	}
	if at := resp.Request.URL; resp.StatusCode == http.StatusNotFound && at.Path != req.URL.Path {
		return nil, movedTo(at.String()) // to where we may not look, which is not gone
	}
	if resp.StatusCode/100 != 2 {
		return nil, statusError(resp.StatusCode, resp.Header, body, k.class)
	}
	return &answer{
		status: resp.StatusCode, header: resp.Header, url: resp.Request.URL, body: body,
		cached: resp.Header.Get(fromCache) != "",
	}, nil
}

// walk reads a listing page by page. GitHub pages by page=, after= and
// cursor=: the next page is whatever URL the Link header calls so. Only a
// first page is asked conditionally. fn returns false to stop; its error is
// returned as it is.
func walk[T any](ctx context.Context, c *Client, k call, fn func(page []T, a *answer) (more bool, err error)) error {
	for {
		var page []T
		a, err := c.do(ctx, k, http.MethodGet, nil, &page)
		if err != nil {
			return err
		}
		if more, err := fn(page, a); err != nil || !more {
			return err
		}
		next, err := c.next(a)
		if err != nil {
			return k.wrap(err)
		}
		if next == "" {
			return nil
		}
		k.path, k.fresh = next, true
	}
}

// all collects a listing.
func all[W, T any](ctx context.Context, c *Client, k call, convert func(W) T) ([]T, error) {
	var list []T
	err := walk(ctx, c, k, func(page []W, _ *answer) (bool, error) {
		for _, w := range page {
			list = append(list, convert(w))
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// next returns the URL of the page after a, "" where there is none. It must
// lie on our own host, which is the only one that may see the token.
func (c *Client) next(a *answer) (string, error) {
	link := nextLink(a.header.Values("Link"))
	if link == "" {
		return "", nil
	}
	u, err := a.url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("%w: next page: %w", mapping.ErrUnavailable, err)
	}
	base := c.requests.BaseURL
	if u.Scheme != base.Scheme || u.Host != base.Host || u.String() == a.url.String() {
		return "", fmt.Errorf("%w: next page is %s", mapping.ErrUnavailable, u.Redacted())
	}
	return u.String(), nil
}

// nextLink finds rel="next" in Link headers (RFC 8288). URLs may hold commas,
// so that the brackets lead, not the commas.
func nextLink(headers []string) string {
	for _, rest := range headers {
		for {
			_, after, ok := strings.Cut(rest, "<")
			if !ok {
				break
			}
			target, params, ok := strings.Cut(after, ">")
			if !ok {
				break
			}
			rest = params
			if i := strings.Index(params, "<"); i >= 0 {
				params = params[:i]
			}
			for p := range strings.SplitSeq(strings.TrimRight(params, ", "), ";") {
				if p = strings.TrimSpace(p); p == `rel="next"` || p == "rel=next" {
					return target
				}
			}
		}
	}
	return ""
}

// graphqlReply is an answer of the GraphQL API. Beside errors it may have data.
type graphqlReply struct {
	Data   json.RawMessage
	Errors []graphqlError
}

// graphqlDo sends a document of a class to the GraphQL API. An error that it answers with is
// the reply's, unless that is a limit.
func (c *Client) graphqlDo(ctx context.Context, k call, document string, vars map[string]any) (reply graphqlReply, err error) {
	k.path = c.graphql
	in := map[string]any{"query": document, "variables": vars}
	if _, err := c.do(ctx, k, http.MethodPost, in, &reply); err != nil {
		return reply, err
	}
	for _, e := range reply.Errors {
		if limited := (*mapping.RateLimited)(nil); errors.As(e.classify(k.class), &limited) {
			c.wire.shut(ctx, k, limit{RateLimited: limited, resource: resourceGraphQL})
			return reply, k.wrap(limited)
		}
	}
	return reply, nil
}

// query asks the GraphQL API; data is decoded from the answer's data.
func (c *Client) query(ctx context.Context, k call, query string, vars map[string]any, data any) error {
	k.class = classGraphQL
	reply, err := c.graphqlDo(ctx, k, query, vars)
	if err != nil {
		return err
	}
	if len(reply.Errors) > 0 {
		return k.wrap(reply.Errors[0].classify(k.class))
	}
	if err := reply.decode(k.class, data); err != nil {
		return k.wrap(err)
	}
	return nil
}

// decode reads the data that an answer has, in part where it has errors, too.
func (r graphqlReply) decode(k class, data any) error {
	switch raw := bytes.TrimSpace(r.Data); {
	case len(raw) > 0 && !bytes.Equal(raw, []byte("null")):
	case len(r.Errors) > 0:
		return r.Errors[0].classify(k)
	default:
		return fmt.Errorf("%w: GraphQL answer without data", lost(k))
	}
	if err := json.Unmarshal(r.Data, data); err != nil {
		return fmt.Errorf("%w: GraphQL data: %w", lost(k), err)
	}
	return nil
}
