package github

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
)

// LabelChange is a change of one issue's labels: it adds some, or it removes some.
type LabelChange struct {
	Repo        string
	Node        string // the node id
	Add, Remove []string
}

// LabelAnswer is the result of a [LabelChange].
type LabelAnswer struct {
	Labels []string // all labels of the issue
	Err    error
	// Alone: GraphQL did not make the change. A REST request for this issue alone does, or
	// returns the reason.
	Alone bool
}

const (
	// labelBatchMost is how many issues one mutation changes at most. GitHub ends a request after
	// ten seconds, and a change of labels takes some tenths of one.
	labelBatchMost = 20
	// labelBatchPause is how long no mutation is tried after GraphQL proved useless.
	labelBatchPause = time.Hour
	// labelWaitMost bounds how far ahead turns are given out.
	labelWaitMost = 10 * time.Minute
)

// labelBatch says how many issues the next mutation may change, and when.
type labelBatch struct {
	turn chan struct{} // held by the one mutation under way

	mu    sync.Mutex
	fewer int               // below labelBatchMost
	off   time.Time         // until then no mutation is tried
	took  time.Duration     // by the last mutation
	next  map[int]time.Time // by rank: when the next waiting key comes again
}

func (b *labelBatch) most(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.off) {
		return 0
	}
	return labelBatchMost - b.fewer
}

// lost records a mutation without an answer. It may have taken too long, so that the next one may
// change at most half as many issues.
func (b *labelBatch) lost(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	half := (labelBatchMost - b.fewer) / 2
	if b.fewer = labelBatchMost - half; half < 2 {
		b.fewer, b.off = 0, now.Add(labelBatchPause)
	}
}

// answered records the answer to a mutation of n issues.
func (b *labelBatch) answered(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fewer = min(b.fewer, max(0, labelBatchMost-2*n))
}

// refused records that GraphQL does not exist, or not for this account.
func (b *labelBatch) refused(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.off = now.Add(labelBatchPause)
}

// wait returns how long a key of a rank waits for its turn. Turns are as far apart as one
// mutation takes, since GitHub may take some seconds for each.
func (b *labelBatch) wait(now time.Time, rank int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	each := max(b.took, time.Second)
	at := now.Add(each)
	if next := b.next[rank]; next.After(at) && next.Sub(now) < labelWaitMost {
		at = next
	}
	if b.next == nil {
		b.next = map[int]time.Time{}
	}
	b.next[rank] = at.Add(each)
	return at.Sub(now)
}

// labelTurn allows one mutation of labels at a time. It puts off a caller that would wait long.
func (c *Client) labelTurn(ctx context.Context) (leave func(), err error) {
	waiting, cancel := bounded(ctx, budgetPatience)
	defer cancel()
	b := &c.labels
	if takeTurn(waiting, b.turn, "") == nil {
		began := c.now()
		return func() {
			b.mu.Lock()
			b.took = c.now().Sub(began)
			b.mu.Unlock()
			<-b.turn
		}, nil
	}
	if err := ended(ctx, "waiting for a turn"); err != nil {
		return nil, err
	}
	rank := 0
	if c.share != nil {
		rank = c.share.Asker(ctx).Rank
	}
	return nil, &mapping.RateLimited{API: "github", After: b.wait(c.now(), rank), Why: "labels of other issues", Turn: true}
}

// LabelBatch returns how many issues one call of ChangeLabels may change; below 2: GraphQL cannot
// be used now.
func (c *Client) LabelBatch() int {
	if c.barsGraphQL() {
		return 0 // REST has a limit of its own
	}
	return c.labels.most(c.now())
}

// barsGraphQL reports whether a limit closes GraphQL now.
func (c *Client) barsGraphQL() bool { return c.wire.gate.closed(call{class: classMutation}) != nil }

// now is the time that paces requests. A client without pacing has none, and never retries a
// useless GraphQL.
func (c *Client) now() time.Time {
	if c.share == nil {
		return time.Time{}
	}
	return c.share.Now()
}

// ChangeLabels changes the labels of several issues of one owner with one write. Answers have the
// order of changes. All labels must exist, as GraphQL makes none.
func (c *Client) ChangeLabels(ctx context.Context, changes []LabelChange) []LabelAnswer {
	answers := make([]LabelAnswer, len(changes))
	if err := c.changeLabels(ctx, changes, answers); err != nil {
		byREST := alone(err) || errors.As(err, new(*mapping.RateLimited)) && c.barsGraphQL()
		for i := range answers {
			answers[i] = LabelAnswer{Err: err, Alone: byREST}
		}
	}
	return answers
}

// alone reports whether an error says that GraphQL does not exist, or not for this account.
func alone(err error) bool {
	for _, it := range []error{mapping.ErrForbidden, mapping.ErrNotFound, mapping.ErrGone, mapping.ErrRejected, mapping.ErrMoved} {
		if errors.Is(err, it) {
			return true
		}
	}
	return false
}

// changeLabels fills in the answers. It returns an error that applies to all of them.
func (c *Client) changeLabels(ctx context.Context, changes []LabelChange, answers []LabelAnswer) error {
	k := repoCall("change_labels", changes[0].Repo)
	k.class, k.object = classMutation, mapping.Count(len(changes), "issue", "issues")+" of "+k.owner
	if k.err != nil {
		return k.wrap(k.err)
	}
	leave, err := c.labelTurn(ctx)
	if err != nil {
		return k.wrap(err)
	}
	defer leave()
	if c.LabelBatch() < 2 { // the call before may have found out
		for i := range answers {
			answers[i].Alone = true
		}
		return nil
	}
	// First take the cost of the write, then ask for its labels.
	if err = c.wire.ready(ctx, k); err == nil {
		err = c.afford(ctx, k, ClassEdit)
	}
	if err != nil {
		return k.wrap(err)
	}
	ids, err := c.labelIDs(ctx, k, changes)
	if alone(err) {
		c.labels.refused(c.now())
	}
	if err != nil {
		return err
	}
	m := newLabelMutation(changes, ids)
	for i := range answers {
		answers[i].Alone = !slices.Contains(m.places, i)
	}
	if len(m.places) == 0 {
		return nil
	}
	k.paid, k.object = true, mapping.Count(len(m.places), "issue", "issues")+" of "+k.owner
	return c.mutateLabels(ctx, k, m, answers)
}

// mutateLabels sends a mutation and reads the result of each change.
func (c *Client) mutateLabels(ctx context.Context, k call, m *labelMutation, answers []LabelAnswer) error {
	reply, err := c.graphqlDo(ctx, k, m.text(), m.vars)
	if err == nil {
		err = m.read(reply, answers)
		if err != nil {
			err = k.wrap(err)
		}
	}
	switch {
	case alone(err):
		c.labels.refused(c.now())
	case errors.Is(err, mapping.ErrUncertain):
		c.labels.lost(c.now())
	case err == nil:
		c.labels.answered(len(m.places))
	}
	return err
}

// labelIDs asks for the node ids of the labels in changes, by repository and name. A missing
// label has none. Each call asks again, as a renamed label keeps its id.
func (c *Client) labelIDs(ctx context.Context, k call, changes []LabelChange) (map[labelName]string, error) {
	q := newLabelQuery(changes)
	k.op, k.class = "read_labels", classGraphQL
	reply, err := c.graphqlDo(ctx, k, q.text(), q.vars)
	if err != nil {
		return nil, err
	}
	data := map[string]map[string]*struct{ ID, Name string }{}
	if err := reply.decode(k.class, &data); err != nil {
		return nil, k.wrap(err)
	}
	ids := map[labelName]string{}
	for _, asked := range q.asked {
		if l := data[asked.repository][asked.field]; l != nil && strings.EqualFold(l.Name, asked.Name) {
			ids[asked.labelName] = l.ID
		}
	}
	return ids, nil
}
