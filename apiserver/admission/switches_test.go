package admission

import (
	"slices"
	"testing"
)

func TestSwitches(t *testing.T) {
	t.Parallel()
	chain := func() *Chain {
		return &Chain{plugins: []plugin{{name: "ServiceAccount"}, {name: "LimitRanger"}, {name: "Priority"}}}
	}
	c := chain()
	if err := c.Disable([]string{"ServiceAccount", "PodSecurity"}); err != nil || c.has("ServiceAccount") || !c.has("LimitRanger") || !c.has("Priority") {
		t.Errorf("%v, %+v", err, c.plugins)
	}
	c = chain()
	if err := c.Disable([]string{"Priority", "Prioritty"}); err == nil || err.Error() != `disable-admission-plugins plugin "Prioritty" is unknown` || !c.has("Priority") {
		t.Errorf("%v, %+v", err, c.plugins)
	}
	if missing, err := c.Enable([]string{"LimitRanger", "AlwaysDeny"}); err != nil || !slices.Equal(missing, []string{"AlwaysDeny"}) {
		t.Errorf("%v, %v", missing, err)
	}
	if _, err := c.Enable([]string{"Deny"}); err == nil || err.Error() != `enable-admission-plugins plugin "Deny" is unknown` {
		t.Error(err)
	}
}
