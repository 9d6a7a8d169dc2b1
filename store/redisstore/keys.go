package redisstore

import "planbridge/mapping"

// The key schema, version 3. P is Options.Prefix; times are Unix milliseconds
// of Redis's own clock. All keys of one planning project share the hash tag {project}. So a Cluster
// spreads projects, and one script can touch all keys of a decision. The space of data without a
// project has the tag {-}.
//
//	P:{project}:meta        hash    epoch: copy of the store's epoch, made at the project's first use
//	                                seq: counts the writing scripts, so that a rollback shows
//	                                form: the form of the indexes, once they have all links
//	                                recounted: how far Repair's recount has come, while there is one
//	P:{project}:list:<shard> zset   every link's id, score 0, in 1024 shards by SHA-1: the order of List
//	P:{project}:trait:<shard> zset  trait and link id, score 0, in 2048 shards by the trait's SHA-1
//	P:{project}:tally       hash    "=state route" → how many links, "!route" → how many parked keys
//	P:{project}:recount     hash    the same, as far as it is counted anew
//	P:{project}:l:<link>    hash    a link and all its work, in few fields:
//	    r  record: JSON of mapping.Link, see codec.go
//	    x  its entries, joined by newlines: =state route, ~trait of each trait, then the indexed refs
//	    h  history: frames "count,length;" + compressed JSON of the entries of a Finish, oldest first; of
//	       eight frames a later Finish makes one, in which old entries lack their delivery
//	    i:<ref>  inbox slot: At as 16 sortable hex digits, 1 or 0 (ambiguous),
//	             "generation,seen,length," of the digest, the digest
//	    d:<ref>  the slot's data, compressed where it is large
//	    g  generation        t  token of the last claim   u  end of the lease
//	    n  when a change that came under the lease is due
//	    p  place: q in the queue, w waiting, f parked; absent: nothing to do
//	    b  1: bulk           s  service waited for, or: operator, of a parked key that changes do not take up
//	    a  failed attempts   f  reason of parking
//	    c  "claims,epoch": claims that nobody has ended, the one under way included
//	    m  "token,session" of the last claim, until it is ended
//	    k  claims before them that nobody ended, since the last success
//	    o  1: there may be own events
//	P:{project}:e:<link>    list    the link's events: generation and event by turns, oldest first
//	P:{project}:o:<link>    list    those of our own account
//	P:{project}:ref:<shard> hash    ref → link id; 1024 shards by SHA-1, so that Redis packs each densely
//	P:{project}:live, bulk  zset    queued keys by due time; a leased key stands at its lease's end
//	P:{project}:wait        zset    score 0: service, NUL, 0 live or 1 bulk, link id
//	P:{project}:parked      zset    failures by when they were parked
//	P:{project}:seen        zset    deliveries (12 bytes of a digest) by when they were seen
//	P:{project}:ledger      hash    conflict id → order (16 sortable hex digits of its time) + compressed JSON
//	P:{project}:ledgerby    zset    score 0: order + conflict id
//	P:{project}:docs        hash    name → document
//	P:{project}:marks:<set> hash    id → text
//
// and in the space {-} alone
//
//	P:{-}:meta              hash    epoch: the store's own; schema: version of all this, or: loading (see load.go)
//	P:{-}:projects          hash    the projects that have a copy of the epoch
//	P:{-}:leases            hash    name → "until,owner", then ",session" where it ends with one
//	P:{-}:sessions          zset    processes by when they fall; ! and one that fell, by when it is named again
//	P:{-}:budgets           hash    name → when an even flow of writes would have its next
//	P:{-}:budget:<name>     list    when the items of the last hour were taken, newest first
//	P:{-}:share:<name>      hash    who shares a budget; the parts of a field stand in lines of their own:
//	    u route [author]        "items,time": what it used of late
//	    w rank route author     until when it is waited for
//	    t rank route            when the next turn is
//	P:{-}:holds             hash    name → until when it is closed
//
// Version 2 had all ids in one set, P:{project}:links, and counted nothing. It is read
// until Repair has made the list and the tally. Version 1 had the data behind the digest in
// i:<ref>. It had the events in a field e of the link, oldest first, as frames "generation,length;"
// + event. Both are read still.
//
// Scripts get meta as KEYS[1] and build the other names from it (scripts/prelude.lua). Most
// decisions learn only from an index which link they concern. All those names have the slot of
// KEYS[1].
//
// KEYS[2] is P:{project}:never, which is never written. While a Cluster moves a slot to another
// node, that node runs no script with two declared keys of which one is missing. It answers
// TRYAGAIN before the script begins. A script that ran would find only the moved keys on one node,
// or only the others.
const (
	keyNever    = "never"
	keyProjects = "projects"
	keyLeases   = "leases"
	keySessions = "sessions"
	keyLinks    = "links" // of earlier programs
	keyTally    = "tally"
	keySeen     = "seen"
	keyLedger   = "ledger"
	keyDocs     = "docs"
	keyMarks    = "marks:"
	keyLink     = "l:"
)

// refShards is how many hashes the refs are spread over.
const refShards = 1024

// indexForm is FORM of scripts/prelude.lua, the version of a project's indexes.
const indexForm = "1"

// fallenMark is the prefix of the name of a fallen session; see scripts/heartbeat.lua.
const fallenMark = "!"

const (
	fieldEpoch  = "epoch"
	fieldForm   = "form"
	fieldSchema = "schema"
)

// base is the prefix of the names of a project's keys.
func (s *Store) base(project mapping.ObjectID) string {
	if project == "" {
		project = "-"
	}
	return s.prefix + ":{" + string(project) + "}:"
}

// declared returns the keys that each script of a project gets.
func (s *Store) declared(project mapping.ObjectID) []string {
	return []string{s.meta(project), s.base(project) + keyNever}
}

// meta is the name of a project's first key, from which scripts build all others.
func (s *Store) meta(project mapping.ObjectID) string { return s.base(project) + "meta" }
