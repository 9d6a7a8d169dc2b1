package redistest

import "testing"

func TestWhatWasAcknowledgedOutlivesAKill(t *testing.T) {
	s := Start(t)
	if _, err := s.Do("SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if _, err := s.Do("PING"); err == nil {
		t.Error("a killed server answers")
	}
	s.Kill() // again is fine
	s.Restart()
	if n, err := s.Do("STRLEN", "k"); err != nil || n != ":1" {
		t.Errorf("STRLEN after a restart = %q, %v", n, err)
	}
	s.Flush()
	if n, err := s.Do("STRLEN", "k"); err != nil || n != ":0" {
		t.Errorf("STRLEN after Flush = %q, %v", n, err)
	}
	if _, err := s.Do("NOSUCH"); err == nil {
		t.Error("an error of the server is none")
	}
	s.Stop()
	s.Stop()
}
