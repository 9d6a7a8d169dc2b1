package mapping

import (
	"slices"
	"testing"
)

// TestJoints: a joiner may stand behind the first character of a reference, however that is
// spelt. Texts on GitHub depend on these places, so that they must not change.
func TestJoints(t *testing.T) {
	for text, want := range map[string][]int{
		"@":        {1},
		"a@b":      {2},
		"&#64;":    {5},
		"&#x40;":   {6},
		"&#X0040;": {8},
		"&commat;": {8},
		"&COMMAT;": {8},
		"commat;":  nil,
		"64;":      nil,
		"#64;":     {1},
		"&#640;":   {2},
		"#":        {1},
		"&#35;":    {5},
		"#35;":     {1},
		"&#x23;":   {6},
		"#x23;":    {1},
		"&num;":    {5},
		"num;":     nil,
		"&#035;x":  {6},
		"gh-":      {3},
		"GH-1":     {3},
		"://":      {3},
		"h:/x":     nil,
		"a@b #1":   {2, 5},
	} {
		var got []int
		for _, at := range joint.FindAllStringIndex(text, -1) {
			got = append(got, at[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("joints of %q end at %v, want %v", text, got, want)
		}
	}
}
