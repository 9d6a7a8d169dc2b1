// Package benchtest measures the numbers of docs/performance.md, each with its peer or its
// limit in the same run, and a large organisation's day. Most of its tests have the build tag
// bench: make bench and make organisation run them. Those in virtual time have no tag.
package benchtest
