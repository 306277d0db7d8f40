package plugins

// shape is a score by utilization, in percent: straight lines between points, in order.
type shape []shapePoint

type shapePoint struct{ utilization, score int64 }

// at gives the score at a utilization. Before the first point and after the last it is
// theirs.
func (s shape) at(utilization int64) int64 {
	for i, point := range s {
		if utilization > point.utilization {
			continue
		}
		if i == 0 {
			return point.score
		}
		before := s[i-1]
		return before.score + (point.score-before.score)*(utilization-before.utilization)/(point.utilization-before.utilization)
	}
	return s[len(s)-1].score
}

// emptier is the default shape: the less is used the better.
var emptier = shape{{0, 100}, {100, 0}}
