package mapping

import "testing"

func TestPlace(t *testing.T) {
	known := CardID{Bucket: "listed", BucketName: "Incoming", StateID: "state"}
	made := CardID{Bucket: "listed", StateID: "state", Made: "Incoming"}
	for name, tt := range map[string]struct {
		was  CardID
		card Card
		want CardID
	}{
		"a listing":                      {made, Card{Bucket: "listed", BucketName: "Incoming", StateID: "state"}, known},
		"renamed":                        {known, Card{Bucket: "listed", BucketName: "Inbox", StateID: "state"}, CardID{Bucket: "listed", BucketName: "Inbox", StateID: "state"}},
		"a read":                         {known, Card{Bucket: "state"}, known},
		"a read before any listing":      {made, Card{Bucket: "state"}, made},
		"a read by the listing's id":     {known, Card{Bucket: "listed"}, known},
		"a read of a bucket of one id":   {CardID{Bucket: "listed", BucketName: "Incoming"}, Card{Bucket: "listed"}, CardID{Bucket: "listed", BucketName: "Incoming"}},
		"a sprint":                       {known, Card{}, known},
		"a sprint before any listing":    {made, Card{}, CardID{Bucket: "listed", BucketName: "Incoming", StateID: "state", Made: "Incoming"}},
		"a read after a move":            {known, Card{Bucket: "other"}, CardID{Bucket: "other"}},
		"moved before any listing":       {made, Card{Bucket: "other"}, CardID{Bucket: "other"}},
		"a sprint after an unnamed move": {CardID{Bucket: "other"}, Card{}, CardID{Bucket: "other"}},
	} {
		if tt.was.Place(&tt.card); tt.was != tt.want {
			t.Errorf("%s: %+v, want %+v", name, tt.was, tt.want)
		}
	}
}

// TestBucketTitle: a listing has the title. Before the first one, the title of the bucket in which
// the card was made counts. Without either, people read the bucket's id.
func TestBucketTitle(t *testing.T) {
	for name, tt := range map[string]struct {
		card CardID
		want string
	}{
		"listed":                  {CardID{Bucket: "listed", BucketName: "Incoming", StateID: "state"}, "Incoming"},
		"listed, and made before": {CardID{Bucket: "listed", BucketName: "Later", StateID: "state", Made: "Incoming"}, "Later"},
		"made, not listed yet":    {CardID{Bucket: "listed", StateID: "state", Made: "Incoming"}, "Incoming"},
		"neither":                 {CardID{ID: "card", Bucket: "listed", StateID: "state"}, "listed"},
		"by one id alone":         {CardID{ID: "card", StateID: "state"}, ""},
	} {
		if got := tt.card.BucketTitle(); got != tt.want {
			t.Errorf("%s: the title is %q, want %q", name, got, tt.want)
		}
	}
}

func TestComplete(t *testing.T) {
	polled := Card{
		Version: 4, Bucket: "listed", BucketName: "Incoming", StateID: "state", Iteration: "s1",
		Users: []string{"alice"}, Polled: Interval{From: firstRun, To: firstRun},
	}
	for name, tt := range map[string]struct {
		read                   Card
		bucket, users, version bool
	}{
		"the same":           {Card{Version: 4, Bucket: "state", Iteration: "s1"}, true, true, true},
		"newer":              {Card{Version: 5, Bucket: "listed", Iteration: "s1"}, true, true, false},
		"in a sprint":        {Card{Version: 5, Iteration: "s1"}, true, true, false},
		"moved meanwhile":    {Card{Version: 5, Bucket: "other", Iteration: "s1"}, false, true, false},
		"in another sprint":  {Card{Version: 5, Bucket: "state", Iteration: "s2"}, true, false, false},
		"nobody works on it": {Card{Version: 4, Bucket: "state", Iteration: "s1", Users: []string{}}, true, false, true},
		"out of its sprint":  {Card{Version: 6, Bucket: "state"}, true, false, false},
	} {
		c := tt.read
		c.Complete(&polled)
		if (c.BucketName == "Incoming") != tt.bucket || (len(c.Users) == 1) != tt.users || !c.Polled.From.IsZero() != tt.version {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
