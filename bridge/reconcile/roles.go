package reconcile

// What is done about a pair is parted by role. A role is a type of its own that has the state
// of the pair and nothing else, so that any role is had of any other by a conversion:
// reader(w).readIssue() has the issue read for whatever role w is.

// role is each of the types below: whatever can ask for an effect.
type role interface{ self() *state }

func (s *state) self() *state { return s }

type (
	// work is a pair that is worked, as the rules get it.
	work struct{ *state }

	// reader reads the two items, and makes a snapshot of each the one that counts.
	reader struct{ *state }
	// looker looks at the two items, and judges nothing by what it sees.
	looker struct{ *state }
	// freshness tells what is new from what lags, came late, or is an echo of ours.
	freshness struct{ *state }
	// cardTasks reads the tasks of a card, and tells which of them changed.
	cardTasks struct{ *state }
	// absences decides whether an item that answers gone is believed to be.
	absences struct{ *state }
	// intake takes in what events told.
	intake struct{ *state }
	// mover follows an issue to where it was transferred.
	mover struct{ *state }

	// entrant decides whether an item that nobody knows gets a partner, or whose it is.
	entrant struct{ *state }
	// exclusivity sees to it that an item gets one partner in all projects together.
	exclusivity struct{ *state }
	// parents finds the issue above a sub-issue, whose card gets a task of it.
	parents struct{ *state }
	// creator makes the partner of an item, and links it.
	creator struct{ *state }
	// taskMaker makes the tasks of a card: of sub-issues, of lines, and the tracking task.
	taskMaker struct{ *state }

	// decider decides about each attribute of a pair.
	decider struct{ *state }
	// ledger keeps what loses a conflict, asks people, and undoes what was decided.
	ledger struct{ *state }
	// pacer folds edits that follow each other fast, and stops programs that answer each other.
	pacer struct{ *state }
	// saver has the record saved before each write, and takes from budgets and brakes.
	saver struct{ *state }
	// visibility withholds what planning says where anybody could read it.
	visibility struct{ *state }
	// planningWriter writes a plan to planning.
	planningWriter struct{ *state }
	// signer gives a text its marker, and sees whether it is there.
	signer struct{ *state }
	// githubWriter writes a plan to GitHub.
	githubWriter struct{ *state }
	// repairer finds out what became of our writes, and brings back what they ran over.
	repairer struct{ *state }

	// projector shows on the issue what only planning says. Each of the other projectors
	// shows one thing.
	projector          struct{ *state }
	labelProjector     struct{ *state }
	milestoneProjector struct{ *state }
	assigneeProjector  struct{ *state }
	reviewProjector    struct{ *state }

	// subIssues makes pairs of the sub-issues of an issue and of the tasks of its card.
	subIssues struct{ *state }
	// partWorker has the sub-issues of a root link worked.
	partWorker struct{ *state }
	// cleaner takes off both items what the bridge made, and parts the pair.
	cleaner struct{ *state }
	// relocator has an issue get a new card in another project.
	relocator struct{ *state }
	// bodyEditor parts a body into the lines of its checklist and the text around them.
	bodyEditor struct{ *state }
	// lister finds the lines of a checklist and decides about them.
	lister struct{ *state }
	// lineTasks finds the tasks of a checklist's lines and writes to them.
	lineTasks struct{ *state }
)
