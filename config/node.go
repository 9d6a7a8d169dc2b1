package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_<-]+$`)

func joinPath(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + quote(key) + "]"
	case path == "" || strings.HasSuffix(path, "/"):
		return path + key
	}
	return path + "." + key
}

func text(n ast.Node) (string, bool) {
	switch t := n.(type) {
	case *ast.StringNode:
		return t.Value, true
	case *ast.LiteralNode:
		return t.Value.Value, true
	case *ast.MappingNode:
		return colonScalar(t)
	}
	return "", false
}

func integer(n ast.Node) (int64, bool) {
	t, ok := n.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	switch i := t.Value.(type) {
	case int64:
		return i, true
	case uint64:
		return int64(i), i <= math.MaxInt64
	}
	return 0, false
}

// kind names the type of a node without showing it.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AliasNode:
		return "an alias without its anchor"
	case *ast.TagNode:
		return "a tag"
	}
	return "something else"
}

// show returns the kind of a node, or a scalar's text.
func show(n ast.Node) string {
	if s, ok := text(n); ok {
		return quote(s)
	}
	switch n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value
	}
	return kind(n)
}

// hintQuote returns the hint that quotes turn a number or a truth value into text.
func hintQuote(n ast.Node) string {
	switch n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return ": in quotes, " + strconv.Quote(n.GetToken().Value)
	}
	return ""
}
