package vectors

// Vertical is a file vertical*.json: metrics, sample lists, statistics and
// correlations of small recordings.
type Vertical struct {
	Format string         `json:"format"`
	Cases  []VerticalCase `json:"cases"`
}

// A VerticalCase is a recording, with definitions and what they amount to.
// What is undefined is nil.
type VerticalCase struct {
	Name    string                    `json:"name"`
	Times   []int64                   `json:"times_ns"`
	Series  map[string]VerticalSeries `json:"series"`
	Metrics []struct {
		Name, Expr string
		Values     []*float64
	} `json:"metrics"`
	Lists        []VerticalList `json:"lists"`
	Sets         []VerticalList `json:"sets"`
	Stats        []VerticalStats
	Ratios       []VerticalRatio
	Correlations []VerticalCorrelation
}

// A VerticalSeries has the values of a monitor.
type VerticalSeries struct {
	Kind   string
	Values []*float64
}

// A VerticalList is a sample list with its samples; a set has no name.
type VerticalList struct {
	Name, Expr string
	Members    []int
}

// VerticalStats are statistics of a metric over a list.
type VerticalStats struct {
	List, Metric                        string
	N                                   int
	Min, Max, Sum, Mean, Median, Stddev *float64
}

// A VerticalRatio is a ratio of sums.
type VerticalRatio struct {
	List, Metric string
	N            int
	Ratio        *float64
}

// A VerticalCorrelation is a correlation of two metrics over a list.
type VerticalCorrelation struct {
	List, X, Y        string
	N                 int
	Pearson, Spearman *float64
	Leverage          []int    `json:"leverage_points"`
	Without           *float64 `json:"pearson_without"`
}
