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

// class is the class of rate limits that apply to a request.
type class int

const (
	classRead class = iota
	classWrite
	classGraphQL
	classMutation // a GraphQL write
	classAsk      // a POST that changes nothing: it has a write's points, and none of the write budgets
	classFree     // no limit: /rate_limit
)

// writes reports whether requests of the class change anything.
func (k class) writes() bool { return k == classWrite || k == classMutation }

// call is one request to make: its name in errors and metrics, and its address. The request's
// context carries it to the wire.
type call struct {
	op     string // "edit_issue": the metrics' label; in errors with spaces
	object string // "acme/web#12"
	owner  string // account whose installation an App uses
	path   string // escaped, relative to the API's root, or an absolute URL
	class  class  // do sets classWrite for methods other than GET
	jwt    bool   // as the App itself, not as an installation
	fresh  bool   // without a condition, and not cached
	paid   bool   // its budget and points are taken already
	err    error  // why the object is invalid
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

// escape makes s one element of a path. Label names may contain anything: "c#", "a/b", "50%". A
// lone ".." must not climb.
func escape(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// answer is a 2xx answer.
type answer struct {
	status int
	header http.Header
	url    *url.URL // the URL after redirects
	body   []byte
	cached bool // a 304 confirmed the kept snapshot
}

// do makes one request. It sends in as JSON unless nil, and decodes the answer into out unless
// nil. out may reject an incomplete answer. Errors are classified and wrapped.
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
			c.cache.forget(a.url.String()) // otherwise its ETag would confirm it for ever
			err = fmt.Errorf("%w: answer %d: %w", lost(k.class), a.status, e)
		}
	}
	if err != nil {
		return nil, k.wrap(err)
	}
	return a, nil
}

// wrap adds operation and object to an error, once.
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
		return nil, movedTo(at.String()) // the target is not readable for us, which is not gone
	}
	if resp.StatusCode/100 != 2 {
		return nil, statusError(resp.StatusCode, resp.Header, body, k.class)
	}
	return &answer{
		status: resp.StatusCode, header: resp.Header, url: resp.Request.URL, body: body,
		cached: resp.Header.Get(fromCache) != "",
	}, nil
}

// walk reads a listing page by page. GitHub pages by page=, after= and cursor=; the Link header
// has the next URL. Only the first page is a conditional request. fn returns false to stop. walk
// returns an error of fn unchanged.
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

// next returns the URL of the page after a, "" where there is none. It must be on our own host,
// as no other host may see the token.
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

// nextLink finds rel="next" in Link headers (RFC 8288). It splits at brackets, as URLs may
// contain commas.
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

// graphqlReply is an answer of the GraphQL API. It may have data beside errors.
type graphqlReply struct {
	Data   json.RawMessage
	Errors []graphqlError
}

// graphqlDo sends a document of a class to the GraphQL API. Errors in the answer stay in the
// reply, except a rate limit.
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

// query sends a query to the GraphQL API and decodes the answer's data into data.
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

// decode decodes an answer's data, which is partial where it also has errors.
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
