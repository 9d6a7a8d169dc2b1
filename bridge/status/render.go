package status

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

//go:embed assets
var assets embed.FS

var (
	styleCSS = mustAsset("style.css")
	pageJS   = mustAsset("page.js")
	pages    = template.Must(template.New("").Funcs(template.FuncMap{
		"ago": ago, "in": in, "since": func(now, t time.Time) string { return moments{now}.since(t) }, "stamp": stamp, "explain": explainPath, "some": some, "count": mapping.Count,
		"reason": func(s string) string { return cut(pageReason, s) },
		"name":   func(s string) string { return cut(pageName, s) },
		// The data that a part's template needs beside the part. They are pointers, so that they
		// have all methods.
		"asked": func(q question, here string, now time.Time) any {
			return &struct {
				Q    *question
				Here string
				Now  time.Time
			}{&q, here, now}
		},
		"due": func(r row, now time.Time) any {
			return &struct {
				Row row
				Now time.Time
			}{r, now}
		},
		"service": func(s ServiceHealth, now time.Time) any {
			return &struct {
				Service ServiceHealth
				Now     time.Time
			}{s, now}
		},
		"route": func(r routeView, p *pageData) any {
			return &struct {
				Route routeView
				Page  *pageData
			}{r, p}
		},
	}).ParseFS(assets, "assets/*.html"))
)

func mustAsset(name string) []byte {
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return data
}

// asset answers with a file that is embedded.
func asset(contentType string, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType+"; charset=utf-8")
		_, _ = w.Write(data) // a caller who has left needs no answer
	}
}

// explainPath is the address of the page that explains an item.
func explainPath(item string) string { return "/explain?item=" + url.QueryEscape(item) }

// linkOfKey is the link's id of a key as the API shows it.
func linkOfKey(key string) string {
	_, link, _ := strings.Cut(key, "/")
	return link
}

// issuePage is the address of an issue's page on GitHub; "" where it is not known.
func (h *handler) issuePage(i *Issue) string {
	web := h.Settings.Access().WebURL
	if i == nil || i.Number == 0 || web == "" {
		return ""
	}
	return web + "/" + i.Repository + "/issues/" + strconv.Itoa(i.Number)
}

// cardPage is the address of a card's page; "": not known.
func (h *handler) cardPage(project string, c *Card) string {
	pages := h.Settings.Access().Cards
	if c == nil || c.ID == "" || pages == nil {
		return ""
	}
	return pages.CardPage(project, c.ID, c.CID)
}

// stamp is a moment in machine-readable form.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ago is the time since a moment, in words.
func ago(now, t time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "–"
	case d < time.Second:
		return "now"
	default:
		return span(d) + " ago"
	}
}

// in is the time until a moment, in words.
func in(now, t time.Time) string {
	if d := t.Sub(now); d >= time.Second {
		return "in " + span(d)
	}
	return "now"
}

// span rounds a duration down to its largest unit.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	default:
		return strconv.Itoa(int(d.Hours()/24)) + " days"
	}
}

// cut shortens a text to so many characters.
func cut(most int, s string) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for at := range s {
		if n++; n > most {
			return s[:at] + "…"
		}
	}
	return s
}
