package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maintainer does the acts that need an administrator: deleting, transferring, renaming, locking,
// arranging sub-issues.
const maintainer = "maintainer"

// The limits of GitHub, in characters; people and the API share them.
const (
	maxTitle    = 256
	maxBody     = 65536
	maxLabel    = 50
	maxLabels   = 100
	maxChildren = 100
	maxLevels   = 8
)

// IssueSpec has the values with which a person opens an issue.
type IssueSpec struct {
	Title, Body string
	Labels      []string
	Assignees   []string
	Milestone   int // number; 0: none
	// Parent is the issue that it is opened as a sub-issue of, in the same
	// moment; 0: none.
	Parent int
}

// IssueEdit has the values that a person may change in one save. It comes filled with the issue's
// present values.
type IssueEdit struct {
	Title, Body string
	Milestone   int // number; 0: none
	// CRLF saves Body with CRLF line ends, as the web editor does. It comes
	// filled with Traits.WebCRLF.
	CRLF bool
}

func crlf(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

func person(login string) actor { return actor{login: login} }

// checkTexts panics where the web interface would not take the texts.
func checkTexts(title, body string) {
	if title == "" || utf8.RuneCountInString(title) > maxTitle || utf8.RuneCountInString(body) > maxBody {
		panic(fmt.Sprintf("githubtest: GitHub takes no issue with a title of %d and a body of %d characters",
			utf8.RuneCountInString(title), utf8.RuneCountInString(body)))
	}
}

// Open opens an issue and returns its number.
func (r *Repo) Open(user string, spec IssueSpec) int { return r.openAs(user, spec, false) }

// OpenPR opens a pull request, which is an issue to most of the API, and
// returns its number.
func (r *Repo) OpenPR(user string, spec IssueSpec) int { return r.openAs(user, spec, true) }

func (r *Repo) openAs(user string, spec IssueSpec, pull bool) (number int) {
	checkTexts(spec.Title, spec.Body)
	r.s.locked(func() {
		if r.s.traits.WebCRLF {
			spec.Body = crlf(spec.Body)
		}
		opened := r.create(person(user), newIssue{
			title: spec.Title, body: spec.Body, labels: spec.Labels,
			assignees: spec.Assignees, milestone: r.milestone(spec.Milestone), pull: pull,
		})
		if spec.Parent != 0 {
			r.must(spec.Parent).link(person(user), opened)
		}
		number = opened.number
	})
	return number
}

// NewDiscussion starts a discussion, which takes a number that no issue has,
// and returns it.
func (r *Repo) NewDiscussion() (number int) {
	r.s.locked(func() {
		r.last++
		number = r.last
	})
	return number
}

// Edit saves the changes of f.
func (r *Repo) Edit(n int, user string, f func(*IssueEdit)) {
	r.s.locked(func() {
		i := r.must(n)
		e := IssueEdit{Title: i.title, Body: i.body, CRLF: r.s.traits.WebCRLF}
		if i.milestone != nil {
			e.Milestone = i.milestone.number
		}
		f(&e)
		checkTexts(e.Title, e.Body)
		if e.CRLF && e.Body != i.body {
			e.Body = crlf(e.Body)
		}
		i.setTexts(person(user), &e.Title, &e.Body)
		i.setMilestone(person(user), r.milestone(e.Milestone))
	})
}

// Close closes an issue; reason is completed, not_planned or duplicate, and
// "" means completed.
func (r *Repo) Close(n int, user, reason string) {
	r.s.locked(func() { r.must(n).setState(person(user), "closed", reason) })
}

// Reopen opens a closed issue again.
func (r *Repo) Reopen(n int, user string) {
	r.s.locked(func() { r.must(n).setState(person(user), "open", "") })
}

// Label attaches a label, which is made if it is unknown.
func (r *Repo) Label(n int, user, name string) {
	r.s.locked(func() { r.must(n).addLabels(person(user), name) })
}

// Unlabel takes a label off; nothing happens where it is not on the issue.
func (r *Repo) Unlabel(n int, user, name string) {
	r.s.locked(func() { r.must(n).removeLabel(person(user), r.label(name), false) })
}

// DeleteLabel deletes a label of the repository, and so from all issues.
func (r *Repo) DeleteLabel(user, name string) {
	r.s.locked(func() {
		if l := r.label(name); l != nil {
			r.dropLabel(person(user), l)
		}
	})
}

func (r *Repo) dropLabel(by actor, l *label) {
	r.labels = slices.DeleteFunc(r.labels, func(o *label) bool { return o == l })
	for _, i := range r.all() {
		i.removeLabel(by, l, true)
	}
	r.send("label", "deleted", by, fields{"label": r.s.wireLabel(r, l)})
}

// NewMilestone makes a milestone and returns its number.
func (r *Repo) NewMilestone(user, title string) (number int) {
	r.s.locked(func() { number = r.addMilestone(person(user), milestoneRequest{Title: &title}).number })
	return number
}

// Comment adds a comment and returns its id.
func (r *Repo) Comment(n int, user, body string) (id int64) {
	r.s.locked(func() { id = r.must(n).addComment(person(user), body).id })
	return id
}

// Assign sets the assigned people; no login means nobody.
func (r *Repo) Assign(n int, user string, logins ...string) {
	r.s.locked(func() { r.must(n).setAssignees(person(user), logins) })
}

// Delete deletes an issue: it answers 410 from now on.
func (r *Repo) Delete(n int) {
	r.s.locked(func() { r.must(n).remove(person(maintainer)) })
}

// Transfer moves an issue to the repository "owner/name" and returns its
// number there. The old number redirects.
func (r *Repo) Transfer(n int, to string) (number int) {
	r.s.locked(func() {
		target := r.s.repo(to)
		if target == nil {
			panic("githubtest: transfer to " + to + ": no such repository")
		}
		number = r.must(n).transfer(person(maintainer), target).number
	})
	return number
}

// Convert turns an issue into a discussion. The issue then answers like a deleted one. With
// Traits.DiscussionRedirect it redirects to the discussion, which the API does not show.
func (r *Repo) Convert(n int) {
	r.s.locked(func() {
		i := r.must(n)
		i.leaveFamily()
		i.deleted, i.converted = true, true
		r.send("discussion", "created", person(maintainer), nil)
	})
}

// Lock locks the conversation of an issue.
func (r *Repo) Lock(n int) { r.s.locked(func() { r.must(n).setLock(person(maintainer), true) }) }

// Unlock opens it again.
func (r *Repo) Unlock(n int) { r.s.locked(func() { r.must(n).setLock(person(maintainer), false) }) }

// AddSubIssue makes issue child a sub-issue of issue parent.
func (r *Repo) AddSubIssue(parent, child int) {
	r.s.locked(func() { r.must(parent).link(person(maintainer), r.must(child)) })
}

// RemoveSubIssue parts them again.
func (r *Repo) RemoveSubIssue(parent, child int) {
	r.s.locked(func() { r.must(parent).unlink(person(maintainer), r.must(child)) })
}

// Archive makes the repository read-only, or writable again.
func (r *Repo) Archive(archived bool) {
	r.s.locked(func() {
		r.spec.Archived = archived
		action := "unarchived"
		if archived {
			action = "archived"
		}
		r.send("repository", action, person(maintainer), nil)
	})
}

// Publish makes a private repository public, or private again.
func (r *Repo) Publish(public bool) {
	r.s.locked(func() {
		r.spec.Private = !public
		action := "privatized"
		if public {
			action = "publicized"
		}
		r.send("repository", action, person(maintainer), nil)
	})
}

// RenameRepo renames or transfers a repository; its former name redirects
// until another repository takes it.
func (s *Server) RenameRepo(old, now string) {
	owner, name, _ := strings.Cut(now, "/")
	s.locked(func() {
		r := s.repo(old)
		if r == nil || s.repo(now) != nil {
			panic("githubtest: rename " + old + " to " + now)
		}
		action, changes := "renamed", fields{"repository": fields{"name": fields{"from": r.name}}}
		if !strings.EqualFold(owner, r.owner.login) {
			action, changes = "transferred", fields{"owner": fields{"from": fields{
				strings.ToLower(r.owner.kind): s.wireUser(r.owner.login),
			}}}
		}
		s.moved[lower(old)] = r
		delete(s.moved, lower(now))
		r.owner, r.name = s.account(owner, "Organization"), name
		r.send("repository", action, person(maintainer), fields{"changes": changes})
	})
}

// DeleteRepo deletes a repository: its name is free, and its id answers 404.
func (s *Server) DeleteRepo(fullName string) {
	s.locked(func() {
		r := s.repo(fullName)
		if r == nil {
			panic("githubtest: delete repository " + fullName + ": no such repository")
		}
		s.repos = slices.DeleteFunc(s.repos, func(o *Repo) bool { return o == r })
		for name, at := range s.moved {
			if at == r {
				delete(s.moved, name)
			}
		}
		r.send("repository", "deleted", person(maintainer), nil)
	})
}

// StaleReads makes the next reads of issue n show its state before the last change.
func (r *Repo) StaleReads(n, reads int) {
	r.s.locked(func() { r.must(n).stale = reads })
}
