package repositories_test

import "testing"

// TestAnOldEventOfAPublicRepository: GitHub is asked only where an event calls a repository private
// that was public. A repeated delivery is about an earlier time.
func TestAnOldEventOfAPublicRepository(t *testing.T) {
	for name, c := range map[string]struct {
		was, says, is, unanswered bool // whether it is public
		want                      bool
	}{
		"private": {},
		"private, and GitHub would say otherwise":    {is: true},
		"it was made public":                         {says: true, is: true, want: true},
		"public":                                     {was: true, says: true, is: true, want: true},
		"public, of an old event private":            {was: true, is: true, want: true},
		"it was made private":                        {was: true},
		"it was made private, and nobody can say so": {was: true, unanswered: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNames(t)
			n.byName["acme/web"], n.public = 7, c.is
			if c.unanswered {
				n.byName["acme/web"] = 0
			}
			if c.was {
				n.SeeVisibility(t.Context(), "acme/web", true)
			}
			if now, doubted := n.SeeVisibility(t.Context(), "acme/web", c.says); now != c.want || doubted != (c.was && !c.says) {
				t.Errorf("public %v, doubted %v; want %v", now, doubted, c.want)
			}
		})
	}
}
