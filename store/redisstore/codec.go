package redisstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"

	"planbridge/mapping"
)

// formDeflate1 marks records and large snapshots: one byte for the form, then DEFLATE with a
// preset dictionary. A link with a body of 1 KiB (3 KB of JSON, most texts twice) takes some 900
// bytes.
const formDeflate1 = '1'

// formPlain marks uncompressed data: data of usual size that is soon replaced. Such are a
// snapshot, for which a webhook waits, and a link with pending records, for which a write waits.
const formPlain = '0'

// packRecord packs a link's record; brief says that another one follows soon.
func packRecord(data []byte, brief bool) ([]byte, error) {
	switch {
	case len(data) > mapping.MaxRecord:
		return compress(data, best)
	case brief:
		return pack(data)
	}
	return compress(data, thorough)
}

// plainMost is the size from which short-lived data is compressed.
const plainMost = 8 << 10

// pack packs short-lived data.
func pack(data []byte) ([]byte, error) {
	if len(data) > plainMost {
		return compress(data, quick)
	}
	return append([]byte{formPlain}, data...), nil
}

// dictionary1 has the frequent texts of such JSON, the most frequent last. Data under
// formDeflate1 can be read with this dictionary only. A change needs a new form beside the old
// one.
const dictionary1 = `"asking":{"refused":{"side":"words":"gone":{"review":"why":"left"orphaned"dormant"creating"entering"` +
	`"intent":{"side":"planning","nonce":"","sent":true,"after":,"looked":"lookups":` +
	`"pending":[{"id":"","side":"github","item":"card:issue:task:","attr":"summary","from":"","to":"","old":{"next":{"answered":true` +
	`"kind":"sub_issue","kind":"checklist","issue":{"item":"in-progress"done"` +
	`"node_id":"author_association":"contributor"assoc":"MEMBER"milestone":assignees":["labels":["reason":"completed"closed"locked":true,"editor":"` +
	`"cid":,"version":,"title":{"v":"","n":},"summary":{"v":"","n":},"estimate":{"v":"","n":},"iteration":"","counters":{"done":,"todo":,"inProgress":,"total":,"status":"To Do"},"tasks":[{"id":"","owner":"` +
	`{"at":"20","side":"planning","attr":"title","what":"write","why":"changed on GitHub since both sides last agreed","delivery":"` +
	`"number":,"title":"","body":"","state":"open","author":"","created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z"` +
	`the and that is to of in for with when not on it as be error request this \n\n## \n- [ ] \n- [x] \r\n\r\n` +
	"```" + `\n[/](https://github.com//issues/#` +
	`{"id":"","project":"","route":"","state":"linked","origin":"github","nonce":"","issue":{"id":,"node":"I_kwDO","repo":"","repo_id":,"number":,"author":"","updated":"2026-0T00:00:00Z","digest":""},` +
	`"card":{"id":"","cid":,"bucket":"","bucket_name":"","version":,"counters_version":},"base":{"estimate":{"g":"","p":"","n":1},"state":{"g":"todo","p":"todo","n":1},"summary":{"g":"","p":"","n":1},"title":{"g":"","p":"","n":1}},` +
	`"children":[{"kind":"tracking","state":"linked","nonce":"","task":""}],"created":"2026-01-01T00:00:00Z","synced":"2026-01-01T00:00:00Z"}`

// dictionary is the form in which compressors and decompressors use dictionary1.
var dictionary = []byte(dictionary1)

// Compressors, which are large and reused. Lasting data is packed thoroughly: above level 5 a
// link takes twice the time for one per cent. A snapshot is packed quickly, since a webhook waits
// for it. Large records are packed as small as possible, since their bound is measured. Faster
// levels do not shrink texts like Base64.
var (
	thorough = compressors(5)
	quick    = compressors(flate.BestSpeed)
	best     = compressors(flate.BestCompression)
)

func compressors(level int) *sync.Pool {
	return &sync.Pool{New: func() any {
		w, err := flate.NewWriterDict(nil, level, dictionary)
		if err != nil {
			panic(err) // only for an invalid level
		}
		return w
	}}
}

// shortMost is the size up to which an encoder without tables of its own takes half the time, as
// for a history's entries. Below 128 bytes the others ignore the dictionary, with which an entry
// takes a third of its size.
const shortMost = 512

func compress(data []byte, pool *sync.Pool) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, len(data)/2+64))
	out.WriteByte(formDeflate1)
	if len(data) < shortMost {
		if err := flate.StatelessDeflate(out, data, true, dictionary); err != nil {
			return nil, fmt.Errorf("compress: %w", err)
		}
		return out.Bytes(), nil
	}
	w := pool.Get().(*flate.Writer)
	defer pool.Put(w)
	w.Reset(out)
	if _, err := w.Write(data); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

func decompress(data string) ([]byte, error) {
	var out bytes.Buffer
	err := decompressTo(&out, data)
	return out.Bytes(), err
}

func decompressTo(out *bytes.Buffer, data string) error {
	if strings.HasPrefix(data, string(formPlain)) {
		out.WriteString(data[1:])
		return nil
	}
	if data == "" || data[0] != formDeflate1 {
		return fmt.Errorf("decompress: unknown form %.1q", data)
	}
	r := readers.Get().(io.Reader)
	defer readers.Put(r)
	if err := r.(flate.Resetter).Reset(strings.NewReader(data[1:]), dictionary); err != nil {
		return fmt.Errorf("decompress: %w", err)
	}
	out.Grow(4 * len(data))
	if _, err := out.ReadFrom(r); err != nil {
		return fmt.Errorf("decompress: %w", err)
	}
	return nil
}

// plains are buffers for records that are read once. One buffer fits most records.
var plains = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// plainKept bounds the size of kept buffers.
const plainKept = 32 << 10

// withPlain calls read with a record's plain data, which is valid during the call only.
func withPlain(record string, read func(data []byte) error) error {
	out := plains.Get().(*bytes.Buffer)
	out.Reset()
	defer func() {
		if out.Cap() <= plainKept {
			plains.Put(out)
		}
	}()
	if err := decompressTo(out, record); err != nil {
		return err
	}
	return read(out.Bytes())
}

// readers are decompressors. Each has a window of its own.
var readers = sync.Pool{New: func() any { return flate.NewReaderDict(strings.NewReader(""), dictionary) }}

// encode makes a record of v.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return compress(data, thorough)
}

func decode(record string, v any) error {
	return withPlain(record, func(data []byte) error {
		if err := json.Unmarshal(data, v); err != nil {
			return fmt.Errorf("decode: %w", err)
		}
		return nil
	})
}
