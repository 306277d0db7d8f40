package framework

// Step is a step that plugins can take part in.
type Step struct {
	// Name is the step's in a configuration, Kind how upstream calls plugins that take part.
	Name, Kind string
	// Takes says that a plugin can take part.
	Takes func(Plugin) bool

	add func(*Profile, Weighted)
}

// QueueSort are plugins that order the queue. It has an order of its own; this only says
// whose it is.
type QueueSort interface {
	Plugin
	SortsQueue()
}

// PostBind are told of pods that have been bound. No plugin wants to know.
type PostBind interface {
	Plugin
	PostBind()
}

// Steps lists all steps.
func Steps() []Step {
	return []Step{
		stepOf("preFilter", "PreFilterPlugin", func(p *Profile, plugin PreFilter, w Weighted) {
			p.preFilter = append(p.preFilter, plugin)
			p.know(w.Plugin)
		}),
		stepOf("filter", "FilterPlugin", addFilter),
		stepOf("postFilter", "PostFilterPlugin", func(p *Profile, plugin PostFilter, _ Weighted) { p.postFilter = append(p.postFilter, plugin) }),
		stepOf("reserve", "ReservePlugin", func(p *Profile, plugin Reserve, w Weighted) { p.reserve = append(p.reserve, plugin); p.know(w.Plugin) }),
		stepOf("preScore", "PreScorePlugin", func(p *Profile, plugin PreScore, _ Weighted) { p.preScore = append(p.preScore, plugin) }),
		stepOf("score", "ScorePlugin", func(p *Profile, plugin Score, w Weighted) {
			p.score = append(p.score, weightedScore{Score: plugin, weight: w.Weight})
		}),
		stepOf("preBind", "PreBindPlugin", func(p *Profile, plugin PreBind, _ Weighted) { p.preBind = append(p.preBind, plugin) }),
		stepOf("bind", "BindPlugin", func(p *Profile, plugin Bind, _ Weighted) { p.bind = append(p.bind, plugin) }),
		stepOf("postBind", "PostBindPlugin", func(*Profile, PostBind, Weighted) {}),
		stepOf("permit", "PermitPlugin", func(p *Profile, plugin Permit, w Weighted) { p.permit = append(p.permit, plugin); p.know(w.Plugin) }),
		stepOf("preEnqueue", "PreEnqueuePlugin", func(p *Profile, plugin PreEnqueue, w Weighted) {
			p.preEnqueue = append(p.preEnqueue, plugin)
			p.know(w.Plugin)
		}),
		stepOf("queueSort", "QueueSortPlugin", func(*Profile, QueueSort, Weighted) {}),
	}
}

func stepOf[T Plugin](name, kind string, add func(*Profile, T, Weighted)) Step {
	return Step{
		Name: name, Kind: kind,
		Takes: func(plugin Plugin) bool { _, ok := plugin.(T); return ok },
		add: func(p *Profile, w Weighted) {
			if plugin, ok := w.Plugin.(T); ok {
				add(p, plugin, w)
			}
		},
	}
}

func addFilter(p *Profile, plugin Filter, w Weighted) {
	p.filter = append(p.filter, plugin)
	if adjusts, ok := w.Plugin.(Adjust); ok {
		p.adjust = append(p.adjust, adjusts)
	}
	p.know(w.Plugin)
}

// know asks a plugin that may refuse pods what may change its mind.
func (p *Profile) know(plugin Plugin) {
	if interested, ok := plugin.(Interested); ok {
		p.interests[plugin.Name()] = interested.Interests()
	}
}
