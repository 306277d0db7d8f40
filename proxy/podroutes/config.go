package podroutes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
)

// configName is the file's name: the runtime takes the first in alphabetical order.
const configName = "10-kogge.conflist"

// cniConfig is the network of a node's pods, as the CNI specification 1.0.0 wants it: each pod on a link of its own
// to the node (ptp), with the node as its gateway, so that everything between pods is routed and passes the node's
// connection tracking. Addresses are noted below /run, since no pod outlives what is there.
func cniConfig(pods netip.Prefix) ([]byte, error) {
	type object = map[string]any
	content, err := json.MarshalIndent(object{
		"cniVersion": "1.0.0",
		"name":       "kogge",
		"plugins": []object{
			{
				"type": "ptp",
				"ipam": object{
					"type":    "host-local",
					"dataDir": "/run/cni/addresses",
					"ranges":  [][]object{{{"subnet": pods.String()}}},
					"routes":  []object{{"dst": "0.0.0.0/0"}},
				},
			},
			{
				"type":         "portmap",
				"backend":      "nftables",
				"snat":         true,
				"capabilities": object{"portMappings": true},
			},
		},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the CNI configuration: %w", err)
	}
	return append(content, '\n'), nil
}

// writeConfig puts the configuration into the directory, unless it stands there already. The runtime watches the
// directory, and must never read half a file.
func writeConfig(directory string, pods netip.Prefix) error {
	content, err := cniConfig(pods)
	if err != nil {
		return err
	}
	file := filepath.Join(directory, configName)
	present, err := os.ReadFile(file)
	if err == nil && string(present) == string(content) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the CNI configuration: %w", err)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("make the directory of CNI configurations: %w", err)
	}
	// The runtime passes over names with other endings.
	partial := file + ".partial"
	if err := os.WriteFile(partial, content, 0o644); err != nil {
		return fmt.Errorf("write the CNI configuration: %w", err)
	}
	if err := os.Rename(partial, file); err != nil {
		return fmt.Errorf("put the CNI configuration in place: %w", err)
	}
	return nil
}
