package images

import (
	"fmt"
	"os/exec"
	"path"
	"strings"
)

// Busybox is Debian's static busybox with a link for each applet.
//
// Its shell is bash all the same: busybox's own drops environment variables whose names are not identifiers
// ("data-1"), which Kubernetes allows and which busybox's upstream build keeps.
func Busybox(files Files) (*Image, error) {
	layer, err := busyboxLayer(files)
	if err != nil {
		return nil, err
	}
	return &Image{
		Names: []string{
			"docker.io/library/busybox:latest",
			"docker.io/library/busybox:1.37",
			"registry.k8s.io/e2e-test-images/busybox:1.37.0-2",
		},
		Layers: []*Layer{layer},
		Run:    Run{Cmd: []string{"sh"}, Env: []string{searchPath}},
	}, nil
}

// Who is who in an image. nginx's workers run as www-data.
const (
	passwd = `root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/usr/sbin:/bin/false
bin:x:2:2:bin:/bin:/bin/false
sys:x:3:3:sys:/dev:/bin/false
www-data:x:33:33:www-data:/var/www:/bin/false
operator:x:37:37:Operator:/var:/bin/false
nobody:x:65534:65534:nobody:/home:/bin/false
`
	group = `root:x:0:
daemon:x:1:
bin:x:2:
sys:x:3:
adm:x:4:
tty:x:5:
mail:x:8:
www-data:x:33:
operator:x:37:
users:x:100:
nogroup:x:65534:
`
)

func busyboxLayer(files Files) (*Layer, error) {
	layer := NewLayer()
	for _, directory := range []string{"/dev", "/etc", "/home", "/proc", "/root", "/run", "/sys", "/usr/local/bin", "/var/log"} {
		layer.Directory(directory, 0o755)
	}
	layer.Directory("/root", 0o700)
	layer.Directory("/tmp", 0o1777)
	layer.Directory("/var/tmp", 0o1777)
	layer.File("/etc/passwd", 0o644, []byte(passwd))
	layer.File("/etc/group", 0o644, []byte(group))
	layer.File("/etc/nsswitch.conf", 0o644, []byte("hosts: files dns\n"))

	if err := files.AddProgram(layer, "/bin/busybox", "/usr/bin/busybox"); err != nil {
		return nil, err
	}
	if err := files.AddProgram(layer, "/bin/bash", "/bin/bash-static", "/usr/bin/bash-static"); err != nil {
		return nil, err
	}
	layer.Symlink("/bin/sh", "bash")
	applets, err := busyboxApplets(files)
	if err != nil {
		return nil, err
	}
	for _, applet := range applets {
		// Upstream's image keeps all of them in /bin, and pods name them there ("/bin/sleep").
		name := path.Join("/bin", path.Base(applet))
		if !layer.Has(name) {
			layer.Symlink(name, "busybox")
		}
	}
	// Scripts begin with this one.
	layer.Symlink("/usr/bin/env", "/bin/env")
	return layer, nil
}

func busyboxApplets(files Files) ([]string, error) {
	program, err := files.find("/bin/busybox", "/usr/bin/busybox")
	if err != nil {
		return nil, err
	}
	output, err := exec.Command(program, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the applets of busybox: %w", err)
	}
	return strings.Fields(string(output)), nil
}
