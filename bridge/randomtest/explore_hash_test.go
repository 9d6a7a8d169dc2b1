package randomtest_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"planbridge/bridge/sim"
)

// A state of the small world is everything that can still make a difference. That is the content of
// both services and the store, the waiting calls, and what people and fate have left to do. It is
// also everything that a replica got since it last had nothing in hand. Ids are renamed in the
// order in which they appear. Times are ages, in tenths of a second; an age longer than any wait of
// the world is old.
//
// The order of answers to concurrent calls of a replica is no part of the state. Where the calls
// and their answers are the same, the calls commute at the services and in the store. The order in
// the replica's own memory remains.

// canon makes texts of one state equal.
type canon struct{ names map[string]string }

func newCanon() *canon { return &canon{} }

// oldest is when a time is no longer told from earlier ones.
const oldest = 30 * time.Second

// of is a text without what is particular to one way.
func (c *canon) of(text string) string {
	now := time.Now()
	var b strings.Builder
	b.Grow(len(text))
	for n := 0; n < len(text); {
		end := n
		for end < len(text) && idByte[text[end]] {
			end++
		}
		word := text[n:end]
		switch at, length := timeAt(text[n:]); {
		case length > 0:
			age := max(min(now.Sub(at), oldest), -oldest).Round(100 * time.Millisecond)
			b.WriteString(age.String())
			n += length
		case strings.HasPrefix(text[n:], "0xc"): // an address
			for n += 2; n < len(text) && idByte[text[n]]; n++ {
			}
		case len(word) >= 12:
			name, ok := c.names[word]
			if !ok {
				name = "id" + strconv.Itoa(len(c.names))
				c.names[word] = name
			}
			b.WriteString(name)
			n = end
		case end > n:
			b.WriteString(word)
			n = end
		default:
			b.WriteByte(text[n])
			n++
		}
	}
	return b.String()
}

// idByte are the bytes of ids.
var idByte = func() (is [256]bool) {
	for _, b := range []byte("0123456789abcdef-") {
		is[b] = true
	}
	return is
}()

// timeAt is the time with which a text begins, as JSON or fmt print it, and its length; 0:
// with none.
func timeAt(text string) (at time.Time, length int) {
	if len(text) < 20 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' {
		return at, 0
	}
	length = 19
	for length < len(text) && (text[length] == '.' || text[length] >= '0' && text[length] <= '9') {
		length++
	}
	at, err := time.Parse("2006-01-02T15:04:05", text[:10]+"T"+text[11:length])
	if err != nil {
		return at, 0
	}
	if rest := text[length:]; strings.HasPrefix(rest, " +0000 UTC") {
		length += len(" +0000 UTC")
		if rest = text[length:]; strings.HasPrefix(rest, " m=") {
			for length += 3; length < len(text) && strings.IndexByte("+-.0123456789", text[length]) >= 0; length++ {
			}
		}
	}
	return at, length
}

// hash is the state of the world.
func (w *way) hash(ready []sim.Ready) (state [16]byte) {
	var b strings.Builder
	seen := w.look()
	for i := range seen.issues {
		seen.issues[i].shows = nil
	}
	for i := range seen.cards {
		seen.cards[i].says = nil
	}
	fmt.Fprintf(&b, "%+v\n%+v\n%s\n", seen.issues, seen.cards, w.sim.memory.Content())
	for _, i := range w.Repo.Issues() {
		fmt.Fprintf(&b, "%+v\n", i)
	}
	for _, c := range w.Project.Cards() {
		fmt.Fprintf(&b, "%+v\n", c)
	}
	for _, d := range w.GitHub.Deliveries() {
		if d.Status == 0 {
			fmt.Fprintf(&b, "%s %s\n", d.Event, d.Action)
		}
	}
	for _, one := range ready {
		fmt.Fprintf(&b, "%s %s %s\n", one.Actor, one.What, one.Given)
	}
	for _, p := range w.bridges {
		v := p.(*virtual)
		fmt.Fprintf(&b, "%s %t\n%s\n", v.name, v.app == nil, strings.Join(w.told[v.name], "\n"))
	}
	fmt.Fprintf(&b, "%d %d %d %d", len(w.left["octocat"]), len(w.left["alice"]), w.crashes, w.faults)
	w.at.names = map[string]string{}
	sum := sha256.Sum256([]byte(w.at.of(b.String())))
	return [16]byte(sum[:16])
}
