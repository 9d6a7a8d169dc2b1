package githubtest

import (
	"net/http"
	"strconv"
)

const docs = "https://docs.github.com/rest"

// reply is the answer of an endpoint; body is encoded as JSON.
type reply struct {
	status int
	body   any
	header http.Header
}

// answer is a reply ready to be sent.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

func created(body any) reply { return reply{status: http.StatusCreated, body: body} }

func noContent() reply { return reply{status: http.StatusNoContent} }

// fail is GitHub's error in its usual form.
func fail(status int, message string) reply {
	return reply{status: status, body: fields{
		"message": message, "documentation_url": docs, "status": strconv.Itoa(status),
	}}
}

// invalid is a 422 that names the fault of a field.
func invalid(resource, field, code, message string) reply {
	e := fields{"resource": resource, "field": field, "code": code}
	if message != "" {
		e["message"] = message
	}
	r := fail(http.StatusUnprocessableEntity, "Validation Failed")
	r.body.(fields)["errors"] = []fields{e}
	return r
}

var notFound = fail(http.StatusNotFound, "Not Found")

func (r reply) encode() answer {
	a := answer{status: r.status, header: r.header.Clone()}
	if a.header == nil {
		a.header = http.Header{}
	}
	if r.body != nil {
		a.body = encode(r.body)
		a.header.Set("Content-Type", "application/json; charset=utf-8")
	}
	return a
}
