package reconcile_test

import (
	"testing"
	"time"
)

// TestListingsThatLackCardsProveNothing: a card is made, and its answer is lost. Both
// lookups meet listings that lack the cards that polls have seen. It is not made again.
func TestListingsThatLackCardsProveNothing(t *testing.T) {
	t.Parallel()
	if err := inWorld(t, func(w *world) {
		w.openIssue("tok1", "text")
		w.settle()
		w.pollHourly()
		w.loseOneCard(answerLost)
		w.plan.listings = []int{0}
		w.openIssue("tok2", "text")
		w.elapse(2 * time.Minute)
		if n := len(w.plan.cards); n != 2 || !w.faults.fired {
			w.fail("%d cards are there while the listings lack some, want 2", n)
		}
		w.plan.listings = nil
		w.settle()
		w.verifyOneEach(2)
	}); err != nil {
		t.Error(err)
	}
}

// TestListingsThatLackWhatAnEarlierOneShowed: the answer to a create is lost, and no poll has
// shown a card. The first lookup meets a listing that lacks the new card, the others a listing
// without any card. It is not made again.
func TestListingsThatLackWhatAnEarlierOneShowed(t *testing.T) {
	t.Parallel()
	if err := inWorld(t, func(w *world) {
		w.openIssue("tok1", "text")
		w.settle()
		w.pollHourly()
		clear(w.polled)
		w.loseOneCard(answerLost)
		w.plan.listings = []int{1, 0}
		w.openIssue("tok2", "text")
		w.elapse(2 * time.Minute)
		if n := len(w.plan.cards); n != 2 || !w.faults.fired {
			w.fail("%d cards are there while the listings lack some, want 2", n)
		}
		w.plan.listings = nil
		w.settle()
		w.verifyOneEach(2)
	}); err != nil {
		t.Error(err)
	}
}

// TestCardsThatNoListingShows: a card that can be read is in no listing for good. That
// keeps other cards from being made for some minutes only.
func TestCardsThatNoListingShows(t *testing.T) {
	t.Parallel()
	if err := inWorld(t, func(w *world) {
		w.openIssue("tok1", "text")
		w.settle()
		w.pollHourly()
		w.loseOneCard(lost)
		w.plan.listings = []int{0}
		w.openIssue("tok2", "text")
		w.elapse(7 * time.Minute)
		w.plan.listings = nil
		w.settle()
		w.verifyOneEach(2)
	}); err != nil {
		t.Error(err)
	}
}

// pollHourly polls, and once an hour from then on.
func (w *world) pollHourly() {
	w.poll()
	w.every = time.Hour
	w.next = time.Now().Add(w.every)
}

// loseOneCard lets a fate befall the next creation of a card.
func (w *world) loseOneCard(how fate) {
	w.faults.armed, w.faults.draw = true, func(p point) fate {
		if p.name == "CreateCard" && !w.faults.fired {
			return how
		}
		return ""
	}
}
