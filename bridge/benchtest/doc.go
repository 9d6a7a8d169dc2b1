// Package benchtest measures the numbers of docs/performance.md, each with its peer or its
// limit in the same run, and a large organisation's day. Its tests have the build tag bench:
// make bench and make organisation run them.
package benchtest
