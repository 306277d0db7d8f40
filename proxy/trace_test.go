package proxy

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/knftables"
)

// packet is the first of a connection.
type packet struct {
	from, to string // to has a port
	protocol string
}

// tracer walks packets through the table that a fake nftables holds, in the order of the kernel's hooks.
type tracer struct {
	t    *testing.T
	nft  *knftables.Fake
	node []string // the node's own addresses
	// known are the clients in affinity sets, as "set client".
	known map[string]bool
}

// walk is a packet on its way along one branch.
type walk struct {
	*tracer
	source, destination netip.Addr
	port                string
	protocol            string
	mark, translated    bool
	outcomes            map[string]bool
}

// trace returns everything that may become of the packet, sorted: "10.244.0.5:80", "masqueraded 10.244.0.5:80",
// "rejected", "dropped", or its own destination when nobody cares. Each random choice is a branch.
func (tr *tracer) trace(sent packet) []string {
	tr.t.Helper()
	to := netip.MustParseAddrPort(sent.to)
	started := walk{
		tracer: tr, source: netip.MustParseAddr(sent.from), destination: to.Addr(), port: fmt.Sprint(to.Port()),
		protocol: sent.protocol, outcomes: map[string]bool{},
	}
	first, second := "nat-prerouting", "filter-forward"
	if tr.isNode(started.source) {
		first, second = "nat-output", "filter-output"
	} else if tr.isNode(started.destination) {
		second = "filter-input"
	}
	started.through(first, func(translated walk) {
		translated.through(second, func(passed walk) {
			passed.through("nat-postrouting", func(left walk) { left.arrive("") })
		})
	})
	return slices.Sorted(mapsKeys(started.outcomes))
}

func mapsKeys(set map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range set {
			if !yield(key) {
				return
			}
		}
	}
}

func (tr *tracer) isNode(address netip.Addr) bool { return slices.Contains(tr.node, address.String()) }

func (w walk) arrive(how string) { w.outcomes[how+w.destination.String()+":"+w.port] = true }

// through runs the packet through a chain and those it leads to; next follows when no rule has decided.
func (w walk) through(chain string, next func(walk)) {
	found := w.nft.Table.Chains[chain]
	if found == nil {
		w.t.Fatalf("no chain %s", chain)
	}
	var rules [][]string
	for _, rule := range found.Rules {
		rules = append(rules, strings.Fields(rule.Rule))
	}
	w.rules(rules, next)
}

func (w walk) rules(rules [][]string, next func(walk)) {
	if len(rules) == 0 {
		next(w)
		return
	}
	w.rule(rules[0], func(onward walk) { onward.rules(rules[1:], next) }, next)
}

// rule takes one rule from the left. skip goes on with the rule after it, end with what follows the base chain.
func (w walk) rule(words []string, skip, end func(walk)) {
	w.t.Helper()
	if len(words) == 0 {
		skip(w)
		return
	}
	text := strings.Join(words, " ")
	// after goes on with the rest of the rule when the match holds.
	after := func(prefix string, holds bool) bool {
		if !strings.HasPrefix(text, prefix) {
			return false
		}
		if holds {
			w.rule(strings.Fields(strings.TrimPrefix(text, prefix)), skip, end)
		} else {
			skip(w)
		}
		return true
	}
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	switch {
	case after("ct state new ", true), after("ct status dnat ", w.translated),
		after("fib daddr type local ", w.isNode(w.destination)), after("fib saddr type local ", w.isNode(w.source)),
		after("ip daddr != 127.0.0.0/8 ", !loopback.Contains(w.destination)),
		after("mark and 0x4000 != 0 mark set mark xor 0x4000 ", w.mark):
	case text == "mark set mark or 0x4000":
		w.mark = true
		skip(w)
	case text == "masquerade fully-random":
		w.arrive("masqueraded ")
	case text == "reject":
		w.outcomes["rejected"] = true
	case words[0] == "jump":
		w.through(words[1], skip)
	case words[0] == "goto":
		w.through(words[1], end)
	case words[0] == "numgen":
		w.choose(words, end)
	case words[0] == "update":
		w.known[strings.TrimPrefix(words[1], "@")+" "+w.source.String()] = true
		skip(w)
	default:
		w.matchOrTranslate(words, skip, end)
	}
}

// choose follows each branch of "numgen random mod N vmap { 0 : goto x , … }".
func (w walk) choose(words []string, end func(walk)) {
	inside := words[slices.Index(words, "{")+1 : len(words)-1]
	for branch := range strings.SplitSeq(strings.Join(inside, " "), " , ") {
		_, verdict, _ := strings.Cut(branch, " : ")
		w.through(strings.TrimPrefix(verdict, "goto "), end)
	}
}

func (w walk) matchOrTranslate(words []string, skip, end func(walk)) {
	text := strings.Join(words, " ")
	key := []string{}
	switch {
	case strings.HasPrefix(text, "ip daddr . meta l4proto . th dport vmap "):
		key = []string{w.destination.String(), w.protocol, w.port}
	case strings.HasPrefix(text, "meta l4proto . th dport vmap "):
		key = []string{w.protocol, w.port}
	case strings.HasPrefix(text, "meta l4proto "):
		if words[2] == w.protocol {
			w.translate(words[3:], end)
			return
		}
		skip(w)
		return
	default:
		w.matchAddress(words, skip, end)
		return
	}
	name := strings.TrimPrefix(words[len(words)-1], "@")
	element := w.nft.Table.Maps[name].FindElement(key...)
	switch {
	case element == nil:
		skip(w)
	case element.Value[0] == "drop":
		w.outcomes["dropped"] = true
	default:
		w.rule(strings.Fields(element.Value[0]), skip, end)
	}
}

// translate follows "dnat to a:p" or each branch of "dnat ip to numgen random mod N map { 0 : a . p , … }".
func (w walk) translate(words []string, end func(walk)) {
	w.translated = true
	choices := []string{"0 : " + strings.Replace(words[len(words)-1], ":", " . ", 1)}
	if at := slices.Index(words, "{"); at >= 0 {
		choices = strings.Split(strings.Join(words[at+1:len(words)-1], " "), " , ")
		if count, err := strconv.Atoi(words[slices.Index(words, "mod")+1]); err != nil || count != len(choices) {
			w.t.Errorf("%d choices in %v", len(choices), words)
		}
	}
	for _, choice := range choices {
		parts := strings.Fields(choice)
		w.destination, w.port = netip.MustParseAddr(parts[2]), parts[4]
		end(w)
	}
}

// matchAddress takes "ip saddr|daddr [. ip daddr] [!=] @set|range" and goes on with the rest of the rule.
func (w walk) matchAddress(words []string, skip, end func(walk)) {
	if words[0] != "ip" {
		w.t.Fatalf("the tracer doesn't know the rule %q", strings.Join(words, " "))
	}
	address := w.source
	if words[1] == "daddr" {
		address = w.destination
	}
	rest := words[2:]
	key := []string{address.String()}
	if rest[0] == "." {
		key = append(key, w.destination.String())
		rest = rest[3:]
	}
	negated := rest[0] == "!="
	if negated {
		rest = rest[1:]
	}
	var holds bool
	if name, isSet := strings.CutPrefix(rest[0], "@"); isSet {
		holds = w.nft.Table.Sets[name].FindElement(key...) != nil || w.known[name+" "+key[0]]
	} else {
		holds = netip.MustParsePrefix(rest[0]).Contains(address)
	}
	if holds == negated {
		skip(w)
		return
	}
	w.rule(rest[1:], skip, end)
}
