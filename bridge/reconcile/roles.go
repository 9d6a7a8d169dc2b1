package reconcile

// The work on a pair is split by role. A role is a type that holds the state of the pair and
// nothing else. A conversion turns any role into any other: reader(w).readIssue() reads the
// issue, whatever role w is.

type (
	// reader reads the two items, and makes the newest state of each the current one.
	reader struct{ *state }
	// looker reads the two items without drawing conclusions.
	looker struct{ *state }
	// freshness separates news from reads that lag, late deliveries and echoes.
	freshness struct{ *state }
	// cardTasks reads the tasks of a card, and finds those that changed.
	cardTasks struct{ *state }
	// absences decides whether to believe that an item is gone.
	absences struct{ *state }
	// intake handles events.
	intake struct{ *state }
	// mover follows an issue that was transferred.
	mover struct{ *state }

	// entrant decides whether a new item gets a partner, or which link owns it.
	entrant struct{ *state }
	// exclusivity makes sure that an issue gets one partner in all projects together.
	exclusivity struct{ *state }
	// parents finds the parent of a sub-issue, whose card gets a task for it.
	parents struct{ *state }
	// creator makes the partner of an item, and links it.
	creator struct{ *state }
	// taskMaker makes the tasks of a card: for sub-issues, for lines, and the tracking task.
	taskMaker struct{ *state }

	// decider decides about each attribute of a pair.
	decider struct{ *state }
	// ledger stores the losers of conflicts, asks people, and undoes decisions.
	ledger struct{ *state }
	// pacer folds frequent edits, and stops programs that answer each other.
	pacer struct{ *state }
	// saver saves the record before each write, and takes from budgets and brakes.
	saver struct{ *state }
	// visibility withholds planning's side where anybody could read it.
	visibility struct{ *state }
	// planningWriter carries out a plan's writes to planning.
	planningWriter struct{ *state }
	// signer adds markers to texts, and checks whether they are there.
	signer struct{ *state }
	// githubWriter carries out a plan's writes to GitHub.
	githubWriter struct{ *state }
	// repairer finds out the outcome of our writes, and restores what they overwrote.
	repairer struct{ *state }

	// pauses puts off a read or a projection that failed, so that it keeps no pair from agreeing.
	pauses struct{ *state }
	// projector projects planning's one-way values onto the issue. Each of the other
	// projectors handles one of them.
	projector          struct{ *state }
	labelProjector     struct{ *state }
	milestoneProjector struct{ *state }
	assigneeProjector  struct{ *state }
	reviewProjector    struct{ *state }

	// subIssues pairs an issue's sub-issues with the tasks of its card.
	subIssues struct{ *state }
	// partWorker works the sub-issues of a root link.
	partWorker struct{ *state }
	// cleaner removes the bridge's marks from both items, and parts the pair.
	cleaner struct{ *state }
	// relocator moves an issue to a new card in another project.
	relocator struct{ *state }
	// bodyEditor splits a body into its checklist lines and the text around them.
	bodyEditor struct{ *state }
	// lister matches the lines of a checklist with its items, and decides about them.
	lister struct{ *state }
	// lineTasks matches tasks with checklist lines, and writes to them.
	lineTasks struct{ *state }
)
