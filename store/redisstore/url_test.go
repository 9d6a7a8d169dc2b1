package redisstore

import (
	"slices"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	o, err := parseURL("rediss://user:p%40ss@redis.example:6380/3?master=main&addr=s2:26379&addr=s3:26379&sentinel_password=sp&pool_size=7")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Addrs, []string{"redis.example:6380", "s2:26379", "s3:26379"}) || o.MasterName != "main" ||
		o.Username != "user" || o.Password != "p@ss" || o.DB != 3 || o.TLSConfig == nil || o.SentinelPassword != "sp" || o.PoolSize != 7 {
		t.Errorf("sentinel options = %+v", o)
	}
	if o, err = parseURL("redis://localhost"); err != nil || o.Addrs[0] != "localhost:6379" || o.TLSConfig != nil || o.PoolSize != defaultPool {
		t.Errorf("plain options = %+v, %v", o, err)
	}
	if o.ReadTimeout != ioTimeout || o.WriteTimeout != ioTimeout || o.DialTimeout != dialTimeout {
		t.Errorf("timeouts = %v, %v, %v", o.ReadTimeout, o.WriteTimeout, o.DialTimeout)
	}
	if o, err = parseURL("redis://s1:26379?master_name=main"); err != nil || o.MasterName != "main" {
		t.Errorf("options by go-redis's name = %+v, %v", o, err)
	}
	if o, err = parseURL("redis://n1:7000?cluster=1&addr=n2:7000"); err != nil || !o.IsClusterMode || len(o.Addrs) != 2 {
		t.Errorf("cluster options = %+v, %v", o, err)
	}
}

func TestParseURLRefusesAndKeepsSecrets(t *testing.T) {
	for _, text := range []string{
		"", "file:planbridge.db", "http://:topsecret@host", "redis://", "redis://:topsecret@host:port",
		"redis://:topsecret/@host", "redis://:topsecret@host/notanumber", "redis://:topsecret@host?nosuch=1",
		"redis://:topsecret@a?addr=b", "redis://u:1?topsecret@h/0", "redis://u:1?topsecret&x@h/0", "redis://:topsecret@a?master=m&addr=b", "redis://:topsecret@a/-1",
		"redis://:topsecret@a?pool_size=topsecret", "redis://:topsecret@a?TOPSECRET topsecret=1", "redis://:topsecret@a?cluster=2", "redis://:topsecret@a/1?cluster=1",
		"redis://:topsecret@a?cluster=1&master=m", "redis://:%zztopsecret@host",
	} {
		_, err := parseURL(text)
		if err == nil {
			t.Errorf("parseURL(%q) was taken", text)
		} else if strings.Contains(strings.ToLower(err.Error()), "topsecret") {
			t.Errorf("parseURL(%q) shows the password: %v", text, err)
		}
	}
}
