package images

import "runtime"

// Image is one image: its layers from the lowest to the topmost, and how its containers run.
type Image struct {
	// Names are the full references under which the image is imported, as "docker.io/library/nginx:latest".
	Names  []string
	Layers []*Layer
	Run    Run
}

// Run is what a container of the image runs unless the pod says otherwise. Field names on the wire are those of
// the OCI image specification's config.
type Run struct {
	Env          []string            `json:"Env,omitempty"`
	Entrypoint   []string            `json:"Entrypoint,omitempty"`
	Cmd          []string            `json:"Cmd,omitempty"`
	WorkingDir   string              `json:"WorkingDir,omitempty"`
	User         string              `json:"User,omitempty"`
	StopSignal   string              `json:"StopSignal,omitempty"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts,omitempty"`
}

// searchPath is the PATH of images that hold programs.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// architecture is that of the machine which builds: the programs in the images come from there.
const architecture = runtime.GOARCH
