package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

var boundTests = map[string]func(*fixture){
	"HistoryInBytes":          testHistoryBytes,
	"OneEntryStays":           testHistoryOne,
	"RecordOverItsBound":      testRecordBound,
	"PlainRecordOverItsBound": testPlainRecordBound,
}

// randomText is a text of n characters that hardly compresses.
func randomText(n int) string {
	chance := rand.New(rand.NewPCG(uint64(n), 1))
	var b strings.Builder
	for range n {
		b.WriteRune(rune(0x4e00 + chance.IntN(0x5000)))
	}
	return b.String()
}

func historySize(f *fixture, entries []mapping.Entry) (size int) {
	for _, e := range entries {
		data, err := json.Marshal(e)
		f.no("Marshal", err)
		size += len(data)
	}
	return size
}

// testHistoryBytes: exactly the newest entries that fit into the bytes stay, however many a Finish
// adds.
func testHistoryBytes(f *fixture) {
	l := f.made()
	why := randomText(mapping.MaxWhy / 3) // 3 bytes each
	n := 0
	var written []mapping.Entry // newest first
	for batch := range 12 {
		c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
		f.no("ClaimKey", err)
		var entries []mapping.Entry
		for range batch % 5 * 3 {
			n++
			e := mapping.Entry{At: time.Unix(int64(n), 0).UTC(), What: "write", Why: why[:3*(150+n*71%180)], Delivery: fmt.Sprint(n)}
			entries, written = append(entries, e), append([]mapping.Entry{e}, written...)
		}
		f.no("Finish", f.Finish(f.ctx, c, nil, entries, store.Outcome{}))
		all, err := f.History(f.ctx, f.key(l), 1000)
		f.no("History", err)
		want := 0
		for want < min(len(written), mapping.MaxHistory) && historySize(f, written[:want+1]) <= mapping.MaxHistoryBytes {
			want++
		}
		if len(all) != want {
			f.Fatalf("history holds %d entries of %d with %d bytes, want %d", len(all), n, historySize(f, all), want)
		}
		for i, e := range all {
			if e != written[i] {
				f.Fatalf("History[%d] = %v, want %v", i, e, written[i])
			}
		}
	}
}

// testHistoryOne: an entry that is over the bound by itself stays with a shorter reason while it is
// the newest.
func testHistoryOne(f *fixture) {
	l := f.made()
	for i, e := range []mapping.Entry{
		{What: "older", Why: "fine"},
		{What: strings.Repeat("w", mapping.MaxHistoryBytes), Why: randomText(mapping.MaxWhy)},
	} {
		c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
		f.no("ClaimKey", err)
		f.no("Finish", f.Finish(f.ctx, c, nil, []mapping.Entry{e}, store.Outcome{}))
		all, err := f.History(f.ctx, f.key(l), 10)
		f.no("History", err)
		if len(all) != 1 || all[0].What != e.What || len(all[0].Why) > mapping.MaxWhy || i == 1 && !strings.HasPrefix(e.Why, strings.TrimSuffix(all[0].Why, "…")) {
			f.Errorf("%d: history has %d entries, want the newest alone", i, len(all))
		}
	}
}

// testRecordBound: a record over its bound is refused, nothing of it is stored, and
// the claim goes on.
func testRecordBound(f *fixture) {
	texts := map[string]string{}
	l := f.made()
	large := func(n int) *mapping.Link {
		m := *l
		text := texts[fmt.Sprint(n)]
		if text == "" {
			text = randomText(n)
			texts[fmt.Sprint(n)] = text
		}
		m.Base = map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: text, Planning: "p"}}
		return &m
	}
	f.bounded(l, large(90_000), large(mapping.MaxRecord), mapping.MaxRecord)
}

// testPlainRecordBound is the same for texts that nearly vanish when they are compressed.
func testPlainRecordBound(f *fixture) {
	l := f.made()
	alike := func(n int) *mapping.Link {
		m := *l
		m.Base = map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: strings.Repeat("alike ", n/6)}}
		return &m
	}
	f.bounded(l, alike(mapping.MaxPlainRecord-4096), alike(mapping.MaxPlainRecord), mapping.MaxPlainRecord)
}

// bounded demands that fits is stored, and that over is refused for a bound.
func (f *fixture) bounded(l, fits, over *mapping.Link, bound int) {
	f.Helper()
	stored := func() int {
		got, err := f.Link(f.ctx, f.key(l))
		f.no("Link", err)
		return len(got.Base[mapping.Summary].GitHub)
	}
	refused := func(what string, err error) {
		f.Helper()
		var size *store.SizeError
		if !errors.As(err, &size) || size.Bound != bound || size.Size <= bound {
			f.Errorf("%s of a record over its bound: %v, want a SizeError for %d", what, err, bound)
		}
		if got, want := stored(), len(fits.Base[mapping.Summary].GitHub); got != want {
			f.Errorf("%s: the stored text has %d bytes, want the %d of before", what, got, want)
		}
	}
	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	f.no("Save", f.Save(f.ctx, c, fits))
	refused("Save", f.Save(f.ctx, c, over))
	f.no("Check", f.Check(f.ctx, c))
	refused("Finish", f.Finish(f.ctx, c, over, nil, store.Outcome{}))
	_, err = f.FinishAndClaim(f.ctx, c, over, nil, store.Outcome{}, ttl)
	refused("FinishAndClaim", err)
	f.no("Check", f.Check(f.ctx, c))
	f.no("Finish", f.Finish(f.ctx, c, fits, nil, store.Outcome{Kind: store.Park, Reason: "too large"}))
	if all := f.failures(); len(all) != 1 || all[0].Reason != "too large" {
		f.Errorf("failures = %v, want the key with its reason", all)
	}
}
