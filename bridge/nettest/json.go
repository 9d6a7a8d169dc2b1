package nettest

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Appender is a value that appends its own JSON.
type Appender interface{ AppendJSON(to []byte) []byte }

// Marshal is json.Marshal for what simulated services answer, in a fraction of the time. It
// panics where that fails.
func Marshal(v any) []byte { return AppendJSON(make([]byte, 0, 1024), v) }

// AppendJSON appends the JSON of a value, as json.Marshal writes it.
func AppendJSON(to []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(to, "null"...)
	case bool:
		return strconv.AppendBool(to, v)
	case int:
		return strconv.AppendInt(to, int64(v), 10)
	case int64:
		return strconv.AppendInt(to, v, 10)
	case string:
		return appendString(to, v)
	case map[string]any:
		return appendObject(to, v)
	case []map[string]any:
		return appendList(to, v, appendObject)
	case []any:
		return appendList(to, v, AppendJSON)
	case Appender:
		return v.AppendJSON(to)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic("nettest: encode: " + err.Error())
	}
	return append(to, text...)
}

// appendObject writes the keys in their order, as json.Marshal does.
func appendObject(to []byte, object map[string]any) []byte {
	if object == nil {
		return append(to, "null"...)
	}
	names := make([]string, 0, 48)
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	to = append(to, '{')
	for n, name := range names {
		if n > 0 {
			to = append(to, ',')
		}
		to = append(appendString(to, name), ':')
		to = AppendJSON(to, object[name])
	}
	return append(to, '}')
}

func appendList[T any](to []byte, list []T, one func([]byte, T) []byte) []byte {
	if list == nil {
		return append(to, "null"...)
	}
	to = append(to, '[')
	for n, v := range list {
		if n > 0 {
			to = append(to, ',')
		}
		to = one(to, v)
	}
	return append(to, ']')
}

// appendString leaves what few texts have to json.Marshal.
func appendString(to []byte, text string) []byte {
	began := len(to)
	to = append(to, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			to = append(to, '\\', c)
		case c == '\n':
			to = append(to, '\\', 'n')
		case c == '\r':
			to = append(to, '\\', 'r')
		case c < ' ' || c >= 0x7f || c == '<' || c == '>' || c == '&':
			written, _ := json.Marshal(text) // a string has one
			return append(to[:began], written...)
		default:
			to = append(to, c)
		}
	}
	return append(to, '"')
}
