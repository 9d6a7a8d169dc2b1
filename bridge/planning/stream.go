package planning

import (
	"errors"
	"fmt"
	"io"
)

// errNotJSON is the error of a text that is not JSON.
var errNotJSON = errors.New("not JSON")

// firstBuffer is how much of a stream is read at once, unless a value is longer.
const firstBuffer = 128 << 10

// stream reads JSON from r, one value at a time.
type stream struct {
	r     io.Reader
	buf   []byte
	at    int // buf[at:end] is read and not consumed
	end   int
	ended error // why the stream ended; nil: there may be more
}

func newStream(r io.Reader) *stream { return &stream{r: r, buf: make([]byte, firstBuffer)} }

// next returns the next byte after white space, without consuming it.
func (s *stream) next() (byte, error) {
	for {
		if s.at = space(s.buf[:s.end], s.at); s.at < s.end {
			return s.buf[s.at], nil
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// fill reads more, or returns why there is no more.
func (s *stream) fill() error {
	if s.ended != nil {
		return s.ended
	}
	if s.at > 0 {
		s.end = copy(s.buf, s.buf[s.at:s.end])
		s.at = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxAnswer {
			return errTooLarge(maxAnswer)
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	if s.ended = err; n > 0 {
		return nil
	}
	return err
}

// value consumes the next value. The returned text is valid, and may be changed, until the next
// call.
func (s *stream) value(skip func(b []byte) int) ([]byte, error) {
	if _, err := s.next(); err != nil {
		return nil, unexpected(err)
	}
	for {
		n := skip(s.buf[s.at:s.end])
		switch {
		case n > 0:
			s.at += n
			return s.buf[s.at-n : s.at], nil
		case n == notJSON:
			return nil, errNotJSON
		}
		if err := s.fill(); err != nil {
			return nil, unexpected(err)
		}
	}
}

func anyValue(b []byte) int { return skipValue(b, 0, 0) }

// elements consumes an array or object that begins with begin. It calls each once at every
// element or key.
func (s *stream) elements(begin byte, each func() error) error {
	c, err := s.next()
	if err != nil {
		return unexpected(err)
	}
	if c != begin {
		return fmt.Errorf("%q where %q was expected", c, begin)
	}
	end := begin + 2 // in ASCII
	for first := true; ; first = false {
		if !first && c == end {
			s.at++
			return nil
		}
		if !first && c != ',' {
			return errNotJSON
		}
		s.at++
		if c, err = s.next(); err != nil {
			return unexpected(err)
		}
		if first && c == end {
			s.at++
			return nil
		}
		if err := each(); err != nil {
			return err
		}
		if c, err = s.next(); err != nil {
			return unexpected(err)
		}
	}
}

// key consumes a key and its colon.
func (s *stream) key() (string, error) {
	raw, err := s.value(func(b []byte) int {
		if b[0] != '"' {
			return notJSON
		}
		return skipString(b, 0)
	})
	if err != nil {
		return "", err
	}
	key := string(unquoted(raw))
	c, err := s.next()
	if err != nil {
		return "", unexpected(err)
	}
	if c != ':' {
		return "", errNotJSON
	}
	s.at++
	return key, nil
}

// done returns an error where the stream goes on after the last value.
func (s *stream) done() error {
	_, err := s.next()
	switch {
	case err == nil:
		return errors.New("more than one value")
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// unexpected is the error of a stream that ends within a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
