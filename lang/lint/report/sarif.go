package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// The parts of SARIF 2.1.0 that are used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool       `json:"tool"`
		ColumnKind string          `json:"columnKind"`
		Artifacts  []sarifArtifact `json:"artifacts"`
		Results    []sarifResult   `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string      `json:"id"`
		Name          string      `json:"name"`
		Short         sarifText   `json:"shortDescription"`
		Full          *sarifText  `json:"fullDescription,omitempty"`
		Help          *sarifText  `json:"help,omitempty"`
		Configuration sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifArtifact struct {
		Location sarifFile `json:"location"`
	}
	sarifFile struct {
		URI   string `json:"uri"`
		Base  string `json:"uriBaseId,omitempty"`
		Index *int   `json:"index,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID       *int          `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifFile   `json:"artifactLocation"`
		Region   sarifRegion `json:"region"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
		Properties  sarifProps    `json:"properties"`
	}
	sarifProps struct {
		Applicability string `json:"applicability"`
	}
	sarifChange struct {
		Artifact     sarifFile          `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion   `json:"deletedRegion"`
		Inserted *sarifContent `json:"insertedContent,omitempty"`
	}
	sarifContent struct {
		Text string `json:"text"`
	}
)

var _ = define(Format{
	Name: "sarif", Text: "for code scanning: SARIF 2.1.0",
	Write: func(w io.Writer, r *Report) error {
		s := sarif{report: r, rules: map[string]int{}, files: map[string]int{}, lines: map[string]int{}}
		run := sarifRun{ColumnKind: "unicodeCodePoints", Artifacts: []sarifArtifact{}, Results: []sarifResult{},
			Tool: sarifTool{sarifDriver{Name: "ebb lint", Version: r.Version, URI: "https://github.com/ebb-lang/ebb"}}}
		for i, code := range lint.Codes() {
			s.rules[code] = i
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(lint.Find(code)))
		}
		for i, f := range r.Files {
			s.files[f] = i
			run.Artifacts = append(run.Artifacts, sarifArtifact{placed(f)})
		}
		for _, f := range r.Found {
			run.Results = append(run.Results, s.result(f))
		}
		return indented(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
	},
})

// base stands for the folder that names of files are relative to.
const base = "%SRCROOT%"

type sarif struct {
	report       *Report
	rules, files map[string]int
	lines        map[string]int // how many findings of one code there were in one line's text
}

func sarifRuleOf(r *lint.Rule) sarifRule {
	x := sarifRule{ID: r.Code, Name: r.Name, Short: sarifText{Text: r.Text}, Configuration: sarifConfig{levelOf(r.Severity)}}
	if r.Why != "" {
		x.Full = &sarifText{Text: r.Text + " " + r.Why}
		x.Help = &sarifText{Text: r.Why, Markdown: lint.Page(r)}
	}
	return x
}

func levelOf(s syntax.Severity) string {
	switch s {
	case syntax.SevError:
		return "error"
	case syntax.SevWarn:
		return "warning"
	}
	return "note"
}

func (s *sarif) result(f lint.Finding) sarifResult {
	text := f.Message
	if f.Help != "" {
		text += "\n" + f.Help
	}
	r := sarifResult{RuleID: f.Code, RuleIndex: s.rules[f.Code], Level: levelOf(f.Severity), Message: sarifText{Text: text},
		Locations: []sarifLocation{{Physical: sarifPhysical{s.file(f.Source.Name), region(f.Span)}}}, Fingerprints: s.fingerprint(f)}
	for i, n := range f.Notes {
		id := i + 1
		r.Related = append(r.Related, sarifLocation{&id, sarifPhysical{s.file(n.Source.Name), region(n.Span)}, &sarifText{Text: n.Text}})
	}
	if f.Fix != nil {
		change := sarifChange{Artifact: s.file(f.Source.Name)}
		for _, e := range f.Fix.Edits {
			x := sarifReplacement{Deleted: region(e.Span)}
			if e.Text != "" {
				x.Inserted = &sarifContent{e.Text}
			}
			change.Replacements = append(change.Replacements, x)
		}
		r.Fixes = []sarifFix{{sarifText{Text: f.Fix.Text}, []sarifChange{change}, sarifProps{f.Fix.Applicability.String()}}}
	}
	return r
}

func region(s syntax.Span) sarifRegion {
	return sarifRegion{s.Start.Line, s.Start.Column, s.End.Line, s.End.Column}
}

func (s *sarif) file(name string) sarifFile {
	f := placed(name)
	if i, ok := s.files[name]; ok {
		f.Index = &i
	}
	return f
}

// placed says where a file lies: relative to the base, unless its name is absolute.
func placed(name string) sarifFile {
	if filepath.IsAbs(name) {
		return sarifFile{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(name, "/")}).String()}
	}
	return sarifFile{URI: (&url.URL{Path: name}).String(), Base: base}
}

// fingerprint tells findings apart in a file that changes: by the code and what stands in the line, not by where the line is.
func (s *sarif) fingerprint(f lint.Finding) map[string]string {
	text := f.Source.Text
	line := text[strings.LastIndexByte(text[:f.Span.Start.Offset], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	sum := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{f.Code, f.Source.Name}, strings.Fields(line)), " ")))
	key := hex.EncodeToString(sum[:8])
	s.lines[key]++
	return map[string]string{"primaryLocationLineHash": fmt.Sprintf("%s:%d", key, s.lines[key])}
}
