// Package randomtest lets people and fate act at random on both services, and judges what
// becomes of it: both sides agree, nothing that a person wrote is lost, nothing is there twice.
//
// TestChaos runs it in real time with processes that are killed, TestSim in virtual time.
// TestExplore goes all ways through a small world. TestShrink makes a short story of a failing
// seed. TestLeftOut and TestMutants show that the runs find mistakes.
package randomtest
