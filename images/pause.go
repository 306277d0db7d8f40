package images

import (
	"fmt"
	"os"
)

// Pause is the image that holds a pod's namespaces open. program is the file of the built program (images/pause).
func Pause(program string) (*Image, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read the pause program: %w", err)
	}
	layer := NewLayer()
	layer.File("/pause", 0o755, content)
	return &Image{
		Names:  []string{"registry.k8s.io/pause:3.10.2"},
		Layers: []*Layer{layer},
		Run:    Run{Entrypoint: []string{"/pause"}, WorkingDir: "/", User: "65535:65535", Env: []string{searchPath}},
	}, nil
}
