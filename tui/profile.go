package tui

func (a *app) openThread(class string) {}
func (a *app) openServer()             {}
