package metrics

// vertical is a file vertical*.json: metrics, sample lists, statistics and
// correlations of small recordings.
type vertical struct {
	Format string         `json:"format"`
	Cases  []verticalCase `json:"cases"`
}

// A verticalCase is a recording, with definitions and what they
// amount to. What is undefined is nil.
type verticalCase struct {
	Name    string                    `json:"name"`
	Times   []int64                   `json:"times_ns"`
	Series  map[string]verticalSeries `json:"series"`
	Metrics []struct {
		Name, Expr string
		Values     []*float64
	} `json:"metrics"`
	Lists        []verticalList `json:"lists"`
	Sets         []verticalList `json:"sets"`
	Stats        []verticalStats
	Ratios       []verticalRatio
	Correlations []verticalCorrelation
}

// A verticalSeries has the values of a monitor.
type verticalSeries struct {
	Kind   string
	Values []*float64
}

// A verticalList is a sample list with its samples; a set has no name.
type verticalList struct {
	Name, Expr string
	Members    []int
}

// verticalStats are statistics of a metric over a list.
type verticalStats struct {
	List, Metric                        string
	N                                   int
	Min, Max, Sum, Mean, Median, Stddev *float64
}

// A verticalRatio is a ratio of sums.
type verticalRatio struct {
	List, Metric string
	N            int
	Ratio        *float64
}

// A verticalCorrelation is a correlation of two metrics over a list.
type verticalCorrelation struct {
	List, X, Y        string
	N                 int
	Pearson, Spearman *float64
	Leverage          []int    `json:"leverage_points"`
	Without           *float64 `json:"pearson_without"`
}
