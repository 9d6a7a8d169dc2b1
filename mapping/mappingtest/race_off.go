//go:build !race

package mappingtest

// Share is the part of many random texts that tests draw: here all of them.
const Share = 1
