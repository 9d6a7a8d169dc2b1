package reconcile

import (
	"errors"
	"fmt"

	"planbridge/bridge/reconcile/journal"
)

// runRules asks the rules about a pair until it rests.
func (w work) runRules() error {
	v, err := w.apply(arrivalRules)
	if v == end || err != nil {
		return err
	}
	if w.link.Cleaning || w.link.Parted {
		_, err = w.apply(cleaningRules)
		return err
	}
	if v, err = w.apply(preparationRules); v == end || err != nil {
		return err
	}
	for range maxRounds {
		if v, err = w.apply(agreementRules); v != anew || err != nil {
			return err
		}
	}
	return fmt.Errorf("the sides still moved after %d rounds", maxRounds)
}

// run works the key. Its error names the link once.
func (w work) run() error {
	name := where(w.owner)
	err := mover(w).readdress(w.runRules())
	if copied := entrant(w).enterCopies(); copied != nil {
		err = mostSevere([]error{err, copied})
	}
	err = visibility(w).keepPrivate(partWorker(w).workFamily(err))
	if err == nil && w.link.Moving != nil && !w.link.Moving.HandsOver() {
		err = relocator(w).depart()
	}
	absences(w).confirmLater()
	if broken := saver(w).brokenBy(); broken != nil && !lostLease(err) {
		err = broken
	}
	if err != nil && !errors.Is(err, errGone) {
		return fmt.Errorf("reconcile %s: %w", name, err)
	}
	for _, p := range w.link.All() {
		journal.DropSpent(&p.Journal)
	}
	return nil
}
