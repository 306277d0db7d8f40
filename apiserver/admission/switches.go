package admission

import (
	"fmt"
	"slices"
)

// absent are upstream's plugins that this server hasn't: switching one off changes nothing.
var absent = []string{
	"AlwaysAdmit", "NamespaceAutoProvision", "NamespaceExists", "LimitPodHardAntiAffinityTopology", "NodeRestriction", "AlwaysPullImages",
	"ImagePolicyWebhook", "PodSecurity", "PodNodeSelector", "PodTolerationRestriction", "EventRateLimit", "ExtendedResourceToleration",
	"PodGroupProtection", "OwnerReferencesPermissionEnforcement", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest",
	"DenyServiceExternalIPs", "NodeDeclaredFeatureValidator", "AlwaysDeny",
}

// Disable takes plugins out of the chain. A name that no plugin of upstream's has is an error.
func (c *Chain) Disable(names []string) error {
	for _, name := range names {
		if !c.has(name) && !slices.Contains(absent, name) {
			return fmt.Errorf("disable-admission-plugins plugin %q is unknown", name)
		}
	}
	c.plugins = slices.DeleteFunc(c.plugins, func(p plugin) bool { return slices.Contains(names, p.name) })
	return nil
}

// Enable checks that plugins are in the chain, where all that this server has are unless they are taken out. It gives the names
// of those that it hasn't; a name that no plugin of upstream's has is an error.
func (c *Chain) Enable(names []string) (missing []string, err error) {
	for _, name := range names {
		switch {
		case c.has(name):
		case slices.Contains(absent, name):
			missing = append(missing, name)
		default:
			return nil, fmt.Errorf("enable-admission-plugins plugin %q is unknown", name)
		}
	}
	return missing, nil
}

func (c *Chain) has(name string) bool {
	return slices.ContainsFunc(c.plugins, func(p plugin) bool { return p.name == name })
}
