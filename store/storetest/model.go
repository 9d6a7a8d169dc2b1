package storetest

import "testing"

func testModel(t *testing.T, o Opened) {}
