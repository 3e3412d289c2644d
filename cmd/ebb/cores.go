package main

import (
	"os"
	"runtime"
	"strconv"
)

func roomForCheckpoints() {
	n, _ := strconv.Atoi(os.Getenv("EXTRA"))
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}
