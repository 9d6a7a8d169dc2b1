package redisstore

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

func TestPackReturnsWhatItWasGiven(t *testing.T) {
	for _, n := range []int{0, 1, plainMost, plainMost + 1, 1 << 20} {
		data := bytes.Repeat([]byte("1"), n)
		packed, err := pack(data)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decompress(string(packed)); err != nil || !bytes.Equal(back, data) {
			t.Errorf("of %d bytes came %d back, %v", n, len(back), err)
		}
		if n > plainMost && len(packed) > n/10 {
			t.Errorf("%d bytes take %d", n, len(packed))
		}
	}
}

func TestCompressReturnsWhatItWasGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		packed, err := compress(data, quick)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decompress(string(packed))
		if err != nil || string(back) != string(data) {
			t.Fatalf("decompress = %q, %v", back, err)
		}
	})
}

// TestDecodeKeepsNothingShared: decoded data stays unchanged while other records are read into the
// same buffer.
func TestDecodeKeepsNothingShared(t *testing.T) {
	want := []string{strings.Repeat("a", 900), strings.Repeat("b", 900), "c"}
	got := make([][]json.RawMessage, len(want))
	for i, text := range want {
		record, err := encode([]string{text})
		if err == nil {
			err = decode(string(record), &got[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range want {
		if string(got[i][0]) != `"`+text+`"` {
			t.Errorf("text %d is %.20s", i, got[i][0])
		}
	}
}

// A history is kept for as long as its link.
func TestAShortHistoryIsCompressed(t *testing.T) {
	data := []byte(`[{"at":"2026-03-04T05:06:07.123456789Z","side":"planning","attr":"title","what":"write","why":"changed on GitHub"}]`)
	packed, err := compress(data, thorough)
	if err != nil {
		t.Fatal(err)
	}
	if len(packed) > len(data)/2 {
		t.Errorf("%d bytes take %d", len(data), len(packed))
	}
}

// Records outlive the program that wrote them, so what was once written must
// stay readable: the dictionary of a form must never change.
func TestOldRecordsStayReadable(t *testing.T) {
	record, err := hex.DecodeString("314204312831e04f36e519a94520372526e7a6ea97a726291b1a21ca74251d58e2b102e70750c653202d3feb80331169" +
		"7a1412d3133341f9195ed280bd509e990729934009b43427155bd982a54c00f9d9c0c0c0102387d7020600")
	if err != nil {
		t.Fatal(err)
	}
	var c mapping.Conflict
	if err := decode(string(record), &c); err != nil || c.Where != "acme/web#12" || c.Rule != "changed on GitHub" || c.State != mapping.ConflictOpen {
		t.Errorf("decode = %+v, %v", c, err)
	}
}

func TestDecodeRefusesNonsense(t *testing.T) {
	packed, err := compress([]byte(`{"what":`), quick)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{"", "2xyz", "1", "1\xff\xff\xff", string(packed), string(packed[:len(packed)-3])} {
		if err := decode(record, new(mapping.Entry)); err == nil {
			t.Errorf("decode(%q) was taken", record)
		}
	}
}

// Data of scripts may be cut or foreign; the reader says so and never panics.
func FuzzClaimField(f *testing.F) {
	packed, err := compress([]byte("data"), quick)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("i:issue:1", "80000000000000050"+"7,1764000000000,3,abc"+string(packed))
	f.Add("i:issue:1", "80000000000000050"+"7,1764000000000,3,abc")
	f.Add("d:issue:1", string(packed))
	f.Add("E", "hello")
	f.Add("e", "3,5;hello4,0;")
	f.Add("e", "3,-5;hello")
	f.Add("i:x", "80000000000000050,,,")
	f.Add("r", "1")
	f.Fuzz(func(t *testing.T, field, value string) {
		c := &store.Claim{Inbox: map[mapping.Ref]store.Snapshot{}}
		if err := claimField(c, field, value); err == nil && field == "e" {
			total := 0
			for _, e := range c.Events {
				total += len(e)
			}
			if total > len(value) {
				t.Errorf("frames(%q) = %q", value, c.Events)
			}
		}
	})
}

func TestParseSlot(t *testing.T) {
	packed, err := compress([]byte("data"), quick)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSlot("8000000000000005" + "1" + "7,1764000000123,4,a,b;" + string(packed))
	if err != nil || s.At != 5 || !s.Ambiguous || s.Digest != "a,b;" || string(s.Data) != "data" || s.Seen.UnixMilli() != 1764000000123 {
		t.Errorf("parseSlot = %+v, %v", s, err)
	}
	for _, value := range []string{"", strings.Repeat("x", 17), "80000000000000051", "800000000000000517,x,1,a", "800000000000000517,1,9,a", "800000000000000517,1,-1,a"} {
		if _, err := parseSlot(value); err == nil {
			t.Errorf("parseSlot(%q) was taken", value)
		}
	}
}
