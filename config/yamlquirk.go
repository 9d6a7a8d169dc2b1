package config

import "github.com/goccy/go-yaml/ast"

// colonScalar returns a text that the parser split at a colon into a mapping of one entry. It
// does so in a list within a flow mapping, {webhook_secrets: [env:NAME]}, where YAML splits only
// before white space (YAML 1.2.2, 7.3.3).
func colonScalar(m *ast.MappingNode) (string, bool) {
	if len(m.Values) != 1 {
		return "", false
	}
	key, isText := m.Values[0].Key.(*ast.StringNode)
	value, too := m.Values[0].Value.(*ast.StringNode)
	if !isText || !too {
		return "", false
	}
	from, to := key.Token.Position, value.Token.Position
	if to.Line != from.Line || to.Column != from.Column+len(key.Value+":") {
		return "", false
	}
	return key.Value + ":" + value.Value, true
}
