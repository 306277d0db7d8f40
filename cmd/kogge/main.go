package main

import (
	"os"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kogge-dev/kogge/cli"
)

func main() {
	ctrllog.SetLogger(logr.Discard()) // managers of controllers have loggers of their own
	os.Exit(cli.Run(os.Args, os.Stdout, os.Stderr))
}
