package plugins

import (
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/configuration"
	"github.com/kogge-dev/kogge/scheduler/framework"
)

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

// newShape takes the points from a configuration, whose scores go to 10.
func newShape(points []configv1.UtilizationShapePoint) (s shape) {
	for _, point := range points {
		s = append(s, shapePoint{int64(point.Utilization), int64(point.Score) * framework.MaxScore / configuration.MaxCustomScore})
	}
	return s
}
