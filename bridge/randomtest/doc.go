// Package randomtest lets people and fate act at random on both services, and judges the end. Both
// sides must agree, nothing that a person wrote may be lost, and no item may exist twice.
//
// TestChaos runs it in real time with processes that are killed, TestSim in virtual time.
// TestExplore goes through all states of a small world. TestShrink makes a short story of a failing
// seed. TestLeftOut and TestMutants show that the runs find mistakes.
package randomtest
