package planning

import (
	"context"
	"time"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// Project is a planning project (docs/planning-api.md 2.2).
type Project struct {
	ID         mapping.ObjectID
	Title      string
	Summary    string
	Owner      string // username
	Type       string
	Timezone   string
	Version    int64
	Start, End time.Time // zero where unset
	Buckets    []Bucket  // the project's own list; its ids can differ from those of [Client.Buckets]
	APIEnabled bool
}

// Bucket is a backlog bucket (docs/planning-api.md 2.3).
type Bucket struct {
	ID    mapping.ObjectID
	Title string
}

type wireProject struct {
	ID           oid                   `json:"_id"`
	Title        versioned[text]       `json:"title"`
	Summary      versioned[rich]       `json:"summary"`
	Owner        versioned[text]       `json:"owner"`
	Type         versioned[text]       `json:"type"`
	Timezone     versioned[text]       `json:"timezone"`
	Version      integer               `json:"version"`
	Start        versioned[stamp]      `json:"startDate"`
	End          versioned[stamp]      `json:"endDate"`
	Buckets      versioned[bucketRefs] `json:"backlogBuckets"`
	Integrations struct {
		API struct {
			Enabled flag `json:"enabled"`
		} `json:"api"`
	} `json:"integrations"`
}

// wireBucket is a bucket in a listing (bucket, id) and in the project (title, id).
type wireBucket struct {
	ID    oid  `json:"id"`
	XID   oid  `json:"_id"`
	Name  text `json:"bucket"`
	Title text `json:"title"`
}

func (w *wireBucket) bucket() (Bucket, error) {
	b := Bucket{ID: mapping.ObjectID(or(w.ID, w.XID)), Title: string(or(w.Name, w.Title))}
	if b.ID == "" {
		return b, errNoID
	}
	return b, nil
}

// bucketRefs are a project's buckets; anything but an array is empty.
type bucketRefs []wireBucket

func (b *bucketRefs) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return nil
	}
	return json.Unmarshal(raw, (*[]wireBucket)(b))
}

func (w *wireProject) project() (Project, error) {
	if w.ID == "" {
		return Project{}, errNoID
	}
	p := Project{
		ID: mapping.ObjectID(w.ID), Title: string(w.Title.Value), Summary: string(w.Summary.Value),
		Owner: string(w.Owner.Value), Type: string(w.Type.Value), Timezone: string(w.Timezone.Value),
		Version: int64(w.Version), Start: time.Time(w.Start.Value), End: time.Time(w.End.Value),
		APIEnabled: bool(w.Integrations.API.Enabled),
	}
	for i := range w.Buckets.Value {
		b, err := w.Buckets.Value[i].bucket()
		if err != nil {
			return p, err
		}
		p.Buckets = append(p.Buckets, b)
	}
	return p, nil
}

// Project reads the project (endpoint 1).
func (c *Client) Project(ctx context.Context) (Project, error) {
	return get(ctx, c, c.read("project.get", "read project "+string(c.opts.Project)), (*wireProject).project)
}

// Probe asks the service for a sign of life, through the circuit breaker like every request. An
// open breaker answers [mapping.ErrUnavailable] without a request. Nil, or any other error, means
// that the service answers.
func (c *Client) Probe(ctx context.Context) error {
	_, err := c.Project(ctx)
	return err
}

// Buckets lists the backlog's buckets (endpoint 3).
func (c *Client) Buckets(ctx context.Context) ([]Bucket, error) {
	return list(ctx, c, c.read("buckets.list", "list buckets", "backlog/buckets"), (*wireBucket).bucket)
}

// Bucket reads one bucket (endpoint 4).
func (c *Client) Bucket(ctx context.Context, id mapping.ObjectID) (Bucket, error) {
	return get(ctx, c, c.read("bucket.get", "read bucket "+string(id), "backlog/buckets", id), (*wireBucket).bucket)
}
