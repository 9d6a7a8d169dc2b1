package reconcile

import (
	"fmt"
	"slices"
)

// Rules bring a pair to agreement. They are asked in the order of their lists. A rule inspects
// the state, does at most one thing, and says whether the rules after it are asked. The lists
// are the table of contents of this package.

// arrivalRules choose the route of a pair, and find its issue. They are asked once a claim, as
// the preparation is.
var arrivalRules = []rule{
	{name: "hand over", why: "An issue that moves to another project goes to its link there, with all that is told of it.", of: roots, writes: true, apply: handOver},
	{name: "reroute", why: "A pair goes by the route that takes its issue now, whatever that is called.", of: roots, apply: reroute},
	{name: "route gone", why: "Nothing is decided without the route's settings.", of: roots, apply: routeGone},
	{name: "parted", why: "An operator parted the pair: neither item is read or written, once no write of the bridge can have run over a text.", of: roots, apply: parted},
	{name: "paused", why: "An operator paused the route: the pair waits.", of: roots, apply: paused},
	{name: "route back", why: "A pair whose route is configured again goes on where it was interrupted.", of: roots, apply: routeBack},
	{name: "events", why: "What events told is taken in.", of: roots, apply: takeInEvents},
	{name: "transferred", why: "The issue is followed to where it was transferred.", apply: transferred},
}

// cleaningRules take a pair apart for an operator. They replace all rules after the arrival.
var cleaningRules = []rule{
	{name: "unmade", why: "A pair that has not two items yet is done with, once nothing is being made for it.", writes: true, apply: unmade},
	{name: "older card", why: "Of the cards of a pair that was found by its marker, the oldest is looked at.", of: roots, writes: true, apply: restored},
	{name: "look at each", why: "Each item is looked at by itself: one that is gone keeps nothing on the other one.", writes: true, apply: does(cleaner.readItems)},
	{name: "bring back", why: "A text of a person that a write of the bridge ran over is brought back first.", writes: true, apply: does(cleaner.bringBack)},
	{name: "clean", why: "What the bridge made is taken off both items of a pair that is not parted yet.", writes: true, apply: does(cleaner.clean)},
}

// preparationRules lead to two items that can be compared.
var preparationRules = []rule{
	{name: "join", why: "An issue and a card that were joined become a pair, unless another project has a partner of the issue.", of: roots, apply: joined},
	{name: "restored", why: "A pair that was found by its marker after a store loss is seen as a whole first.", of: roots, apply: restored},
	{name: "with siblings", why: "A new task waits for the request that makes all new tasks of its card.", of: parts, apply: withSiblings},
	{name: "enter", why: "An item without a partner enters, or goes.", apply: enter},
	{name: "create", why: "The partner is made, exactly once.", apply: create},
	{name: "fold seen", why: "Edits that follow each other fast cross together.", apply: does(pacer.foldSeen)},
	{name: "see", why: "What was seen of both sides is taken in, and what that does not tell is read.", apply: refreshBoth},
	{name: "leave", why: "An issue that does not match its route is left alone, and taken up when it matches again.", apply: leaveOrReturn},
	{name: "overrun", why: "A text of a person that a write of the bridge ran over is brought back.", writes: true, apply: does(repairer.verifyWrites)},
	{name: "tracking", why: "A card has no writable state, so that one task carries the state of its issue.", of: roots, writes: true, apply: does(taskMaker.ensureTracking)},
	{name: "mark tasks", why: "A task that the bridge made gets its marker back: by that it is known where the store is lost.", of: roots, writes: true, apply: does(signer.markTasks)},
}

// agreementRules bring two items to agreement. They start again whenever one of them changed
// the state, at most maxRounds times a claim.
var agreementRules = []rule{
	{name: "late writes", why: "A write that takes effect long after it was sent is no edit of a person.", apply: lateWrites},
	{name: "first sight", why: "What the sides never agreed on is compared as a whole: both are read.", apply: firstSight},
	{name: "decide", why: "Each attribute is decided by what both sides agreed on last.", apply: decide},
	{name: "meet", why: "Where both sides changed to the same, planning is read: a poll may have shown what has changed again.", apply: readPlanning},
	{name: "withhold", why: "Planning's texts are not shown in a public repository.", apply: withhold},
	{name: "fold plan", why: "Writes that follow each other fast become one.", apply: foldPlan},
	{name: "read first", why: "GitHub has no lock: an issue is read right before it is written.", apply: readFirst},
	{name: "announce", why: "A dry run says what would be decided.", apply: announce},
	{name: "swap wait", why: "A removed estimate label may be half of an exchange.", writes: true, apply: awaitSwap},
	{name: "brake", why: "A route closes a bounded number of issues a minute.", writes: true, apply: brakeCloses},
	{name: "pace", why: "Two programs that answer each other are stopped.", writes: true, apply: pacePlan},
	{name: "sign", why: "A joined card gets its marker before anything else is written.", writes: true, apply: signJoined},
	{name: "keep forgotten", why: "What a write ran over right before the store was lost, or went back, is kept in a comment.", writes: true, apply: keepForgotten},
	{name: "keep losers", why: "What loses a conflict is kept before it is written over.", writes: true, apply: keepLosers},
	{name: "extra labels", why: "The loser of two estimate labels goes while the base still tells which is new.", writes: true, apply: dropExtra},
	{name: "write planning", why: "Planning goes first: its versions show whether somebody was faster.", writes: true, apply: writePlanning},
	{name: "write GitHub", why: "The issue gets what planning changed.", writes: true, apply: writeGitHub},
	{name: "agree", why: "What needs no write is the new base, and questions that are answered end.", writes: true, apply: agree},
	{name: "look again", why: "What was written is compared once more.", writes: true, apply: compareAgain},
	{name: "checklist", why: "Tasks of a checklist follow once the issue and its card agree.", writes: true, apply: workList},
	{name: "undo", why: "What an operator asked to bring back is brought back, once the winner stands on both sides.", writes: true, apply: undo},
	{name: "show", why: "What only planning says is shown on the issue.", apply: show},
	{name: "rest", why: "What was seen is known from now on.", apply: comeToRest},
}

// familyRules are about the sub-issues of a root that agrees or waits, or whose issue is gone. A rule
// that fails does not block the next one, unless the claim has ended.
var familyRules = []rule{
	{name: "parents", why: "A pair keeps its partner wherever the issue stands in its family.", of: roots, apply: does(subIssues.takeParents)},
	{name: "sub-issues", why: "A sub-issue becomes a task of its parent's card, and a new task a sub-issue.", of: roots, apply: ofLinked(subIssues.discoverSubIssues)},
	{name: "tasks", why: "New tasks of one card are made by one request.", of: roots, apply: ofLinked(taskMaker.makeSubTasks)},
	{name: "each part", why: "The rules are asked of each sub-issue of which there is something to do.", of: roots, apply: ofSubIssues(partWorker.workParts)},
}

// showRules project planning's one-way values onto an issue. The rule show asks all of them.
var showRules = []rule{
	{name: "review", why: "A card that passed its review closes its issue, where the route says so.", writes: true, apply: does(reviewProjector.showReview)},
	{name: "labels", why: "The state of the tasks, the review and the bucket are labels.", writes: true, apply: does(labelProjector.showLabels)},
	{name: "milestone", why: "The card's sprint is a milestone.", writes: true, apply: does(milestoneProjector.showMilestone)},
	{name: "assignees", why: "Who works on the card is assigned to the issue.", writes: true, apply: does(assigneeProjector.showAssignees)},
}

// RuleText is a rule as the documents show it.
type RuleText struct {
	List, Name, Why string
	Of              string // the pairs that it is asked of
	Writes          bool   // it is not asked in a dry run
}

// ruleLists has all rules, in the order in which they are asked.
var ruleLists = []struct {
	name  string
	rules *[]rule
}{
	{"arrival", &arrivalRules},
	{"taking apart", &cleaningRules},
	{"preparation", &preparationRules},
	{"agreement", &agreementRules},
	{"show", &showRules},
	{"family", &familyRules},
}

// Rules returns the rules in the order in which they are asked.
func Rules() []RuleText {
	var out []RuleText
	for _, l := range ruleLists {
		for _, r := range *l.rules {
			out = append(out, RuleText{l.name, r.name, r.why, r.of.String(), r.writes})
		}
	}
	return out
}

// LeaveOut removes a rule. Only tests call it, before anything is reconciled: a test that
// fails then shows what the rule is for.
func LeaveOut(name string) error {
	for _, l := range ruleLists {
		if i := slices.IndexFunc(*l.rules, func(r rule) bool { return r.name == name }); i >= 0 {
			*l.rules = slices.Delete(slices.Clone(*l.rules), i, i+1)
			return nil
		}
	}
	return fmt.Errorf("leave out %q: no rule", name)
}
