package apiserver

import (
	"net/http"
	"runtime"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/version"
)

// Version is what the server says it is.
const Version = "v1.37.2+kogge"

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	v := version.Info{
		Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
		GitVersion: Version, GitTreeState: "clean", GoVersion: runtime.Version(), Compiler: runtime.Compiler,
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range b.Settings {
			switch setting.Key {
			case "vcs.revision":
				v.GitCommit = setting.Value
			case "vcs.time":
				v.BuildDate = setting.Value
			}
		}
	}
	writeJSON(w, v)
}
