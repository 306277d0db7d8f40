package main

import (
	"os"

	"github.com/kogge-dev/kogge/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
