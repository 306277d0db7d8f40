package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
)

// meets finds the first rule of a success policy that the succeeded indexes meet, and says
// which it was.
func meets(policy *batchv1.SuccessPolicy, completions int, succeeded Indexes) (message string, met bool) {
	if policy == nil || len(succeeded) == 0 {
		return "", false
	}
	for i, rule := range policy.Rules {
		switch {
		case rule.SucceededIndexes != nil:
			wanted := ParseIndexes(*rule.SucceededIndexes, completions)
			if len(wanted) == 0 {
				continue
			}
			common := wanted.Common(succeeded)
			met = common == wanted.Len() || rule.SucceededCount != nil && common >= int(*rule.SucceededCount)
		case rule.SucceededCount != nil:
			met = succeeded.Len() >= int(*rule.SucceededCount)
		}
		if met {
			return fmt.Sprintf("Matched rules at index %d", i), true
		}
	}
	return "", false
}
