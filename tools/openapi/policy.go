package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// writePolicy writes the roles and bindings that a genuine server begins with, without what differs from server to server: an object
// a line.
func writePolicy(spec, file string) error {
	var out bytes.Buffer
	for _, resource := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		raw, err := os.ReadFile(filepath.Join(spec, resource+".json"))
		if err != nil {
			return err
		}
		var list struct {
			Kind  string
			Items []map[string]any
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return fmt.Errorf("a genuine server begins without %s", resource)
		}
		for _, o := range list.Items {
			meta := o["metadata"].(map[string]any)
			for _, own := range []string{"uid", "resourceVersion", "creationTimestamp"} {
				delete(meta, own)
			}
			for _, m := range meta["managedFields"].([]any) {
				delete(m.(map[string]any), "time")
			}
			o["kind"] = list.Kind[:len(list.Kind)-len("List")]
			line, err := json.Marshal(o)
			if err != nil {
				return err
			}
			out.Write(append(line, '\n'))
		}
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}
