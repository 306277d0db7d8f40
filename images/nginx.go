package images

import "fmt"

// nginxConfiguration serves /usr/share/nginx/html on port 80 and includes whatever a volume puts into conf.d.
const nginxConfiguration = `user www-data;
worker_processes auto;
pid /run/nginx.pid;
error_log /var/log/nginx/error.log notice;

events {
	worker_connections 1024;
}

http {
	include /etc/nginx/mime.types;
	default_type application/octet-stream;
	access_log /var/log/nginx/access.log combined;
	sendfile on;
	keepalive_timeout 65;
	include /etc/nginx/conf.d/*.conf;
}
`

const nginxDefaultServer = `server {
	listen 80;
	server_name localhost;

	location / {
		root /usr/share/nginx/html;
		index index.html index.htm;
	}

	error_page 500 502 503 504 /50x.html;
	location = /50x.html {
		root /usr/share/nginx/html;
	}
}
`

const nginxWelcome = `<!DOCTYPE html>
<html>
<head><title>Welcome to nginx!</title></head>
<body>
<h1>Welcome to nginx!</h1>
<p>If you see this page, the web server runs in a pod.</p>
</body>
</html>
`

const nginxError = `<!DOCTYPE html>
<html><head><title>Error</title></head><body><h1>An error occurred.</h1></body></html>
`

// Nginx is Debian's nginx on busybox's layer, arranged as the public image is: the same paths for pages and
// configuration, logs on the standard streams, SIGQUIT to stop gracefully.
func Nginx(files Files) (*Image, error) {
	base, err := busyboxLayer(files)
	if err != nil {
		return nil, err
	}
	layer := NewLayer()
	if err := files.AddProgram(layer, "/usr/sbin/nginx"); err != nil {
		return nil, err
	}
	types, err := files.Read("/etc/nginx/mime.types")
	if err != nil {
		return nil, fmt.Errorf("nginx: %w", err)
	}
	layer.File("/etc/nginx/mime.types", 0o644, types)
	layer.File("/etc/nginx/nginx.conf", 0o644, []byte(nginxConfiguration))
	layer.File("/etc/nginx/conf.d/default.conf", 0o644, []byte(nginxDefaultServer))
	layer.File("/usr/share/nginx/html/index.html", 0o644, []byte(nginxWelcome))
	layer.File("/usr/share/nginx/html/50x.html", 0o644, []byte(nginxError))
	layer.Symlink("/var/log/nginx/access.log", "/dev/stdout")
	layer.Symlink("/var/log/nginx/error.log", "/dev/stderr")
	for _, directory := range []string{"/var/lib/nginx", "/var/cache/nginx", "/run", "/var/lock"} {
		layer.Directory(directory, 0o755)
	}
	return &Image{
		Names: []string{
			"docker.io/library/nginx:latest",
			"docker.io/library/nginx:1.27",
			"registry.k8s.io/e2e-test-images/nginx:1.27.0-2",
		},
		Layers: []*Layer{base, layer},
		Run: Run{
			Cmd: []string{"nginx", "-g", "daemon off;"}, Env: []string{searchPath},
			StopSignal: "SIGQUIT", ExposedPorts: map[string]struct{}{"80/tcp": {}},
		},
	}, nil
}
