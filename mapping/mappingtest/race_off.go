//go:build !race

package mappingtest

// Share is the part of many random texts that tests draw: here all of them.
const Share = 1

// Worlds is the part of many worlds that tests play: here all of them.
const Worlds = 1
