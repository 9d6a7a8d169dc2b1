package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"planbridge/mapping"
	"planbridge/store/backup"
)

type backupCmd struct {
	output
	File  string `arg:"" help:"The file to write; - for standard output."`
	Force bool   `help:"Replace a file that is there."`
}

// Help is what planbridge backup --help adds.
func (c *backupCmd) Help() string {
	return `The file holds links with what both sides last agreed on, their history and work, the conflict ledger, and how far each side was read. It
holds texts of issues and cards, and no secret of the configuration. The running service writes it and goes on working; where none runs, this
command reads the store. The file gets its name when it is complete.`
}

// backedUp is the output of the command.
type backedUp struct {
	File string `json:"file"`
	backup.Summary
}

// Run implements the command.
func (c *backupCmd) Run(ctx context.Context, p *process) error {
	got, to, told := backedUp{File: c.File}, c.toFile, *p
	if c.File == "-" {
		to, told.stdout = c.toOutput, p.stderr
	}
	var err error
	if got.Summary, err = to(ctx, p); err != nil {
		return fmt.Errorf("backup to %s: %w", c.File, err)
	}
	err = c.print(&told, got, func() error {
		_, err := fmt.Fprintf(told.stdout, "the %s store is backed up to %s: %s\n", got.Store, c.File, holding(got.Counts))
		return err
	})
	if err != nil || got.Spoilt == 0 {
		return err
	}
	return tellLost(p, &got.Summary)
}

// holding describes a backup's content for people.
func holding(n backup.Counts) string {
	return strings.Join([]string{
		mapping.Count(n.Links, "link", "links"), mapping.Count(n.Conflicts, "conflict", "conflicts"), mapping.Count(n.Documents, "document", "documents"),
		mapping.Count(n.Marks, "mark", "marks"), mapping.Count(n.Deliveries, "delivery", "deliveries"),
	}, ", ")
}

// tellLost names the parts that a backup lacks, as the store could not read them.
func tellLost(p *process, s *backup.Summary) error {
	for _, lost := range s.Lost {
		fmt.Fprintf(p.stderr, "planbridge: not in the backup: %s\n", oneLine(lost))
	}
	if more := s.Spoilt - len(s.Lost); more > 0 {
		fmt.Fprintf(p.stderr, "planbridge: not in the backup: %d more\n", more)
	}
	return errReported
}

// toOutput writes the backup to standard output.
func (c *backupCmd) toOutput(ctx context.Context, p *process) (backup.Summary, error) {
	if f, ok := p.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return backup.Summary{}, misuse{errors.New("standard output is a terminal, expected a file or a pipe")}
	}
	return c.fetch(ctx, p, p.stdout)
}

// toFile writes the backup to a new file beside the requested one. It gives it that name once it is
// complete and on the disk.
func (c *backupCmd) toFile(ctx context.Context, p *process) (s backup.Summary, err error) {
	if err := c.mayWrite(); err != nil {
		return s, err
	}
	dir, base := filepath.Split(c.File)
	f, err := os.CreateTemp(filepath.Clean(dir), "."+base+".*") // for its owner alone
	if err != nil {
		return s, err
	}
	s, err = c.fetch(ctx, p, f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.File)
	}
	if err != nil {
		return s, errors.Join(err, os.Remove(f.Name()))
	}
	return s, syncDir(filepath.Clean(dir))
}

// mayWrite fails where the file exists and must not be replaced.
func (c *backupCmd) mayWrite() error {
	is, err := os.Stat(c.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !is.Mode().IsRegular():
		return misuse{errors.New("it is no regular file, expected one or none")}
	case !c.Force:
		return misuse{errors.New("the file is there already: --force replaces it")}
	}
	return nil
}

// fetch copies a backup to w, and checks it meanwhile.
func (c *backupCmd) fetch(ctx context.Context, p *process, w io.Writer) (s backup.Summary, err error) {
	err = with(ctx, p, func(api *client) error {
		resp, err := api.unhurried().send(ctx, http.MethodPost, "/api/v1/backup", nil)
		if err != nil {
			return err
		}
		out := &failing{w: w}
		s, err = backup.Check(io.TeeReader(resp.Body, out))
		return errors.Join(cmp.Or(out.err, err), resp.Body.Close())
	})
	return s, err
}

// failing remembers why a write failed.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(b []byte) (n int, err error) {
	n, f.err = f.w.Write(b)
	return n, f.err
}

// syncDir makes a new name durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
