package repositories

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
)

// How long GitHub's answer on who can read a repository is believed, and how long
// it is not asked again where it gave none.
const (
	visibleFor    = 5 * time.Minute
	unansweredFor = 30 * time.Second
)

// visibilities is what is known of who can read which repository. An event that says
// that one is private may be an old one: it is believed where nothing else is known,
// and GitHub does not answer. It is safe for concurrent use.
type visibilities struct {
	age time.Duration // how long an answer is believed; 0: visibleFor
	mu  sync.Mutex
	m   map[string]visibility // by lower-case name
}

type visibility struct {
	public bool
	until  time.Time
	// unanswered: GitHub did not say; public is what was known before.
	unanswered bool
	// told: GitHub or an event has said which it is.
	told bool
}

// until is when an answer of that time is no longer believed.
func (v *visibilities) until(at time.Time) time.Time { return at.Add(cmp.Or(v.age, visibleFor)) }

// tell takes in what an event says where nothing is known.
func (v *visibilities) tell(repo string, private bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	repo = strings.ToLower(repo)
	if v.m[repo].told {
		return
	}
	if v.m == nil {
		v.m = map[string]visibility{}
	}
	v.m[repo] = visibility{public: !private, told: true}
}

// of returns what is known of a repository, and whether that is new enough.
func (v *visibilities) of(repo string) (known visibility, fresh bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known = v.m[strings.ToLower(repo)]
	return known, time.Now().Before(known.until)
}

// put takes in an answer to a question that was asked when was was known. What was
// told meanwhile stands.
func (v *visibilities) put(repo string, was, now visibility) visibility {
	v.mu.Lock()
	defer v.mu.Unlock()
	repo = strings.ToLower(repo)
	if known := v.m[repo]; known.public && known != was {
		return known
	}
	if v.m == nil {
		v.m = map[string]visibility{}
	}
	v.m[repo] = now
	return now
}

// doubt has GitHub asked once more whether a repository that was public is so; it
// stays until GitHub says otherwise. It reports false where it was in doubt already.
func (v *visibilities) doubt(repo string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.m == nil {
		v.m = map[string]visibility{}
	}
	repo = strings.ToLower(repo)
	was := v.m[repo]
	v.m[repo] = visibility{public: true, told: true}
	return was != v.m[repo]
}

// Private reports whether only members can read the repository, and asks
// GitHub for it once in a while. One that GitHub does not know for us is not
// public as far as is known: anybody would be told of that.
func (r *Registry) Private(ctx context.Context, repo string) (bool, error) {
	was, fresh := r.visible.of(repo)
	if fresh && !was.unanswered {
		return !was.public, nil
	}
	got, err := r.o.GitHub.Identity(ctx, repo)
	now := visibility{public: !got.Private, told: true, until: r.visible.until(time.Now())}
	if errors.Is(err, mapping.ErrNotFound) {
		now, err = was.unansweredNow(), nil
	}
	if err != nil {
		return false, err
	}
	return !r.visible.put(repo, was, now).public, nil
}

// unansweredNow is what is known of a repository of which GitHub has just not told.
func (v visibility) unansweredNow() visibility {
	return visibility{public: v.public, told: v.told, until: time.Now().Add(unansweredFor), unanswered: true}
}

// Public reports whether anybody can read a repository, as far as that is known. ask allows to
// ask GitHub. A GitHub that does not answer the question is not
// asked at each write.
func (r *Registry) Public(ctx context.Context, repo string, ask bool) (public, known bool) {
	was, fresh := r.visible.of(repo)
	if fresh && ask {
		r.sayPublic(repo, false, was.public)
	}
	if fresh || !ask && !was.public {
		return was.public, was.told || !ask
	}
	got, err := r.o.GitHub.Identity(ctx, repo)
	now := visibility{public: !got.Private, told: true, until: r.visible.until(time.Now())}
	if err != nil {
		now = was.unansweredNow()
	}
	now = r.visible.put(repo, was, now)
	r.sayPublic(repo, was.public, now.public)
	return now.public, now.told
}

// factPublic names in the log what lasts while a repository is public where planning's
// texts are not to be shown.
const factPublic = "a repository is public"

// sayPublic has the log say that a repository is public, while that keeps something from being
// written, and once that it is no more.
func (r *Registry) sayPublic(repo string, was, is bool) {
	switch {
	case is:
		r.o.Logger.Warn("a repository is public: routes that do not say allow_public show nothing of planning there", "repo", repo, "fact", factPublic)
	case was:
		r.o.Logger.Info("the repository is private again", "repo", repo, "over", factPublic)
	}
}

// SeeVisibility takes in what an event says of who can read a repository. now says whether anybody
// can: where one that was public is said to be private GitHub is asked, as the event may be an old
// one. doubted reports that it may be private again: once, and not with each delivery until GitHub
// was asked.
func (r *Registry) SeeVisibility(ctx context.Context, repo string, public bool) (now, doubted bool) {
	if err := r.tellPrivate(ctx, repo, !public); err != nil {
		r.o.Logger.Warn("remembering who can read a repository", "repo", repo, "err", err)
	}
	r.visible.tell(repo, !public)
	was, _ := r.visible.of(repo)
	if public {
		now := r.visible.put(repo, was, visibility{public: true, told: true, until: r.visible.until(time.Now())})
		if !was.public {
			r.sayPublic(repo, false, now.public)
		}
		return true, false
	}
	if was.public {
		doubted = r.visible.doubt(repo)
		now, _ = r.Public(ctx, repo, true)
	}
	return now, doubted
}

// AskPublic asks GitHub anew whether anybody can read a repository. One of which it does not
// tell stays public.
func (r *Registry) AskPublic(ctx context.Context, repo string) bool {
	r.visible.doubt(repo)
	public, _ := r.Public(ctx, repo, true)
	return public
}
