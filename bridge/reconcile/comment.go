package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"planbridge/mapping"
)

// maxComment is how many characters of a kept text go into one comment. GitHub allows 65,536
// for the whole comment.
const maxComment = 60_000

// notice is a comment that the bridge posts exactly once.
type notice struct {
	id               string // names it in its marker
	text             string
	github, planning string // texts that are kept whole, where not empty
	repeated         bool   // it may have been posted before
	// wait is how long a post of it may still be under way. An earlier search and post could put it
	// there twice.
	wait time.Duration
}

// comment posts a notice, unless the route does not write to GitHub. Where an earlier attempt
// may have succeeded, the issue's comments are searched for its marker first.
func (w ledger) comment(n notice) (ids []int64, err error) {
	if !w.route.Writes(mapping.GitHub) {
		return nil, nil
	}
	bodies := n.bodies()
	posted := map[string]int64{}
	if n.repeated || w.claim.Attempts+w.claim.Abandoned > 0 || w.claim.Generation > 0 && len(bodies) > 1 {
		comments, err := do(w, ReadComments{w.owner.Issue.Repo, w.owner.Issue.Number})
		if err != nil {
			return nil, onGitHub(fmt.Errorf("comments: %w", err))
		}
		for _, c := range comments {
			if !w.Authorship(c.Author).Perhaps() {
				continue
			}
			for _, m := range signer(w).marks(c.Body, mapping.MarkConflict) {
				posted[m.Partner] = c.ID // of any link: comments of a lost one are identified by their content
			}
		}
	}
	for i, body := range bodies {
		part := fmt.Sprintf("%s-%d", n.id, i+1)
		if id, ok := posted[part]; ok {
			ids = append(ids, id)
			w.count(CountPrevented, "comment")
			continue
		}
		if n.wait > 0 {
			return ids, later(n.wait, "a comment may still be under way")
		}
		mark := mapping.Marker{Kind: mapping.MarkConflict, Link: w.link.ID, Nonce: w.pair.Nonce, Partner: part}
		id, err := w.postComment(w.set.Keys.AppendComment(body, mark))
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (w ledger) postComment(body string) (int64, error) {
	if err := saver(w).writing(); err != nil {
		return 0, err
	}
	c, err := do(w, CreateComment{w.owner.Issue.Repo, w.owner.Issue.Number, body})
	if err != nil && !Certain(err) {
		return 0, later(w.set.Settle.GitHub, "comment: %v; to be looked for before it is posted again", err)
	}
	if err != nil {
		return 0, onGitHub(fmt.Errorf("comment: %w", err))
	}
	return c.ID, nil
}

// bodies returns the notice's comments. The kept texts are collapsed, and stand unchanged in
// fences that no line of theirs can close.
func (n notice) bodies() []string {
	var out []string
	for _, kept := range []struct{ whose, text string }{{"GitHub's", n.github}, {"Planning's", n.planning}} {
		for i, part := range slices.Collect(slices.Chunk([]rune(kept.text), maxComment)) {
			title := kept.whose + " text"
			if i > 0 {
				title = fmt.Sprintf("%s text, part %d", kept.whose, i+1)
			}
			out = append(out, fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n</details>", title, fenced(string(part))))
		}
	}
	if len(out) == 0 {
		return []string{n.text}
	}
	joined := n.text + "\n\n" + strings.Join(out, "\n\n")
	if utf8.RuneCountInString(joined) <= maxComment {
		return []string{joined}
	}
	out[0] = n.text + "\n\n" + out[0]
	return out
}

// fenced puts a text into a code fence that is longer than any fence in it. Text in a fence
// neither notifies anybody nor links anywhere.
func fenced(text string) string {
	longest := 2
	for run := range strings.FieldsFuncSeq(text, func(c rune) bool { return c != '`' }) {
		longest = max(longest, len(run))
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + text + "\n" + fence
}

// explain is the sentence above a conflict's texts.
func explain(c mapping.Conflict) string {
	if c.State == mapping.ConflictOpen {
		return fmt.Sprintf("**planbridge:** the %s was changed here and in the planning service. Neither was overwritten (%s). Make both sides equal, or let an operator choose: `planbridge conflicts resolve %s planning|github`.", c.Attribute, c.Rule, c.ID)
	}
	winner := "GitHub's"
	if c.Winner == mapping.Planning {
		winner = "Planning's"
	}
	return fmt.Sprintf("**planbridge:** the %s was changed here and in the planning service. %s value stands (%s). Both values are kept here.", c.Attribute, winner, c.Rule)
}
