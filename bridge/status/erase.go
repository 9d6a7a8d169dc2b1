package status

import (
	"net/http"
)

// EraseAsk is the body of POST /api/v1/erase. One of Item and Author is set.
type EraseAsk struct {
	Item   string `json:"item,omitempty"`   // acme/web#12, or the id of a card, a task or a link
	Author string `json:"author,omitempty"` // the GitHub login of the issues' author
	// Comments also deletes the comments with conflicts' losing texts.
	Comments bool `json:"comments,omitempty"`
}

// Erased lists the erased items.
type Erased struct {
	Links     []Link          `json:"links"`
	Kept      []string        `json:"kept,omitempty"` // other items of the request, and why they stay
	Conflicts int             `json:"conflicts"`      // entries of the ledger
	Comments  []ErasedComment `json:"comments"`
	// Warning says what else an operator has to do.
	Warning string `json:"warning,omitempty"`
}

// ErasedComment is a comment on GitHub that holds a text of an erased link.
type ErasedComment struct {
	Issue      string `json:"issue"` // acme/web#12
	Repository string `json:"repository"`
	ID         int64  `json:"id"`
	Deleted    bool   `json:"deleted"`
	Error      string `json:"error,omitempty"` // why it could not be deleted
}

func (h *handler) erase(w http.ResponseWriter, r *http.Request) {
	var ask EraseAsk
	if !decodeBody(w, r, &ask) {
		return
	}
	if ask.Comments && h.Services == nil {
		h.fail(w, r, ErrNoService)
		return
	}
	got, err := h.Operator.Erase(r.Context(), ask)
	for i := range got.Comments {
		if c := &got.Comments[i]; ask.Comments && err == nil {
			failed := h.Services.DeleteComment(r.Context(), c.Repository, c.ID)
			if c.Deleted = failed == nil; failed != nil {
				c.Error = failed.Error()
			}
		}
	}
	if len(got.Links) > 0 {
		h.Logger.Warn("erased", "by", Actor(r.Context()), "item", ask.Item, "author", ask.Author, "links", len(got.Links), "conflicts", got.Conflicts)
	}
	h.answer(w, r, func() any { return got }, err)
}
