package main

import (
	"context"
	"errors"

	"github.com/cpprof/cpprof/internal/page"
	"github.com/cpprof/cpprof/sampler"
)

var errFollowedByPage = errors.New("--web shows one program, and can't follow others: leave --web out, or record the program itself")

// recordWeb makes one recording, and meanwhile shows it in a
// browser. The page stays after the end of the recording, until
// a signal ends cpprof. A launched program goes on after that,
// as without --web.
func recordWeb(ctx context.Context, t terminal, f *recordFlags, command []string) error {
	if f.child != "" || f.followExec {
		return usagef("%w", errFollowedByPage)
	}
	if err := f.checkSingle(command, errFollowedByPage); err != nil {
		return err
	}
	ctx, target, err := f.attach(ctx, t, t, command)
	if err != nil {
		return err
	}
	defer target.close()
	say := newNarrator(t)
	f.options.MeetPeer = func(other sampler.Peer) { say.beside(target.Process, other) }
	g, err := f.startRecording(ctx, target.target)
	if err != nil {
		return target.fail(ctx, err)
	}
	server, err := g.listen(t, &f.shown)
	if err != nil {
		_, ended := g.end()
		return target.fail(ctx, errors.Join(err, ended))
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	tell(t.err, "%s shows the recording; Ctrl-C ends both", server.URL)
	if !f.noBrowser {
		openBrowser(ctx, server.URL)
	}
	say.begin(target.Process, g.file)
	<-g.ended
	result, err := g.end()
	if err == nil {
		g.tell(say, target.Process)
		say.end(target.Process, g.file, result)
	}
	if err = errors.Join(err, <-served); err != nil {
		return target.fail(ctx, err)
	}
	return nil
}

// listen opens a port for the page of the recording, as it is at
// the time of a request. The chosen samples count.
func (g *growing) listen(t terminal, counted *viewFlags) (*page.Server, error) {
	s, err := g.source(&viewFlags{inputFlags: inputFlags{err: t.err}})
	if err != nil {
		return nil, err
	}
	return page.Listen(0, page.Content{Name: g.file, Page: func() (*page.Page, error) {
		now := *s
		var why string
		var err error
		if now.recording, why, err = counted.pickSoFar(s, g.live.Recording()); err != nil {
			return nil, err
		}
		if now.recording == nil {
			return nil, errors.New(why)
		}
		return pageOf(&now), nil
	}})
}
