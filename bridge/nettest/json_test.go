package nettest_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"planbridge/bridge/nettest"
	"planbridge/mapping/mappingtest"
)

// TestMarshal: the text is that of json.Marshal.
func TestMarshal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value(t, 3)
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := nettest.Marshal(v); string(got) != string(want) {
			t.Errorf("wrote %s, json.Marshal writes %s", got, want)
		}
	})
}

// value draws a value as services answer them.
func value(t *rapid.T, depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Int64().Draw(t, "number")
	case 3:
		return text(t)
	case 4:
		return json.Number(mappingtest.Number().Draw(t, "estimate"))
	case 5:
		return object(t, depth)
	case 6:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) map[string]any { return object(t, depth) }), 0, 3).Draw(t, "objects")
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return value(t, depth-1) }), 0, 3).Draw(t, "list")
}

func text(t *rapid.T) string {
	return rapid.OneOf(rapid.String(), mappingtest.Text(), mappingtest.Markdown()).Draw(t, "text")
}

func object(t *rapid.T, depth int) map[string]any {
	return rapid.MapOfN(rapid.Custom(text), rapid.Custom(func(t *rapid.T) any { return value(t, depth-1) }), 0, 4).Draw(t, "object")
}
