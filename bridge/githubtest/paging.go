package githubtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// The sizes of a page.
const (
	defaultPerPage = 30
	maxPerPage     = 100
)

func (c *call) perPage() int {
	n, err := strconv.Atoi(c.query.Get("per_page"))
	if err != nil || n < 1 {
		return defaultPerPage
	}
	return min(n, maxPerPage)
}

func (c *call) page() int {
	n, err := strconv.Atoi(c.query.Get("page"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// paged answers the page of items that the query asks for, with its Link.
func paged[T any](c *call, items []T, wire func(T) fields) reply {
	per, page := c.perPage(), c.page()
	last := max(1, (len(items)+per-1)/per)
	from := min((page-1)*per, len(items))
	to := min(from+per, len(items))
	links := map[string]string{}
	if page < last {
		links["next"], links["last"] = strconv.Itoa(page+1), strconv.Itoa(last)
	}
	if page > 1 {
		links["prev"], links["first"] = strconv.Itoa(page-1), "1"
	}
	return reply{status: http.StatusOK, body: wireAll(items[from:to], wire), header: c.link("page", links)}
}

func wireAll[T any](items []T, wire func(T) fields) []fields {
	out := make([]fields, 0, len(items))
	for _, i := range items {
		out = append(out, wire(i))
	}
	return out
}

// link is the Link header that sets the parameter to each relation's value.
// GitHub names repositories by id in it.
func (c *call) link(parameter string, values map[string]string) http.Header {
	path := c.s.endpoint(c.r.URL)
	if c.repo != nil {
		path = fmt.Sprintf("/repositories/%d%s", c.repo.id, belowRepo(path))
	}
	var parts []string
	for _, rel := range []string{"prev", "next", "last", "first"} {
		if v := values[rel]; v != "" {
			q, _ := url.ParseQuery(c.r.URL.RawQuery)
			q.Set(parameter, v)
			parts = append(parts, fmt.Sprintf("<%s%s?%s>; rel=%q", c.s.api, path, q.Encode(), rel))
		}
	}
	if parts == nil {
		return nil
	}
	return header("Link", strings.Join(parts, ", "))
}

// belowRepo is the part of a path behind /repos/OWNER/NAME or /repositories/ID.
func belowRepo(path string) string {
	skip := 3
	if strings.HasPrefix(path, "/repositories/") {
		skip = 2
	}
	if parts := strings.Split(path, "/"); len(parts) > skip+1 {
		return "/" + strings.Join(parts[skip+1:], "/")
	}
	return ""
}
