package fit

// Manifest is manifest.json: what the report is of, and what of it is in doubt.
type Manifest struct {
	SweepID    string            `json:"sweep_id"`
	Study      string            `json:"study"`
	Title      string            `json:"title,omitempty"`
	Domain     string            `json:"domain"`
	Simulated  string            `json:"simulated,omitempty"` // how the judgements were simulated; absent for people's
	StudyHash  string            `json:"study_hash"`          // SHA-256 of the study's bundle
	Inputs     map[string]string `json:"inputs"`              // SHA-256 of each file of the study
	Seed       uint64            `json:"seed"`
	Version    string            `json:"version"`
	Complete   bool              `json:"complete"` // every cell has a result
	Cells      int               `json:"cells"`
	TopUp      map[string]TopUp  `json:"top_up,omitempty"`   // by model, of those that had contenders
	Parameters map[string]int    `json:"parameter_sets"`     // by model
	Warnings   []string          `json:"warnings,omitempty"` // what the fits may not bear; report.html begins with them
	Notes      []string          `json:"notes,omitempty"`
	Created    string            `json:"created"` // when the sweep was made, RFC 3339
}

// TopUp is what was run again of a model.
type TopUp struct {
	Contenders int  `json:"contenders"`     // parameter sets that got more runs
	Times      int  `json:"times_the_runs"` // of the fit stage, that those had which got the most
	Separated  bool `json:"separated"`      // one of them is the best with a probability of .95
}
