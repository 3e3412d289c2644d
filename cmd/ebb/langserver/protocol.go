package langserver

import "encoding/json"

// The parts of the Language Server Protocol (3.17) that this server speaks, in the names of its specification.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
}

// documentParams name a document; the params of all requests about one begin so.
type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

// positionParams name a place.
type positionParams struct {
	documentParams
	Position position `json:"position"`
}

type openParams struct {
	TextDocument struct {
		documentID
		Text string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	documentParams
	ContentChanges []struct {
		Range *textRange `json:"range"`
		Text  string     `json:"text"`
	} `json:"contentChanges"`
}

type initializeParams struct {
	ProcessID        *int   `json:"processId"`
	RootURI          string `json:"rootUri"`
	RootPath         string `json:"rootPath"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
			Diagnostic *struct{} `json:"diagnostic"`
		} `json:"textDocument"`
		Workspace struct {
			Diagnostics struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"diagnostics"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code,omitempty"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Tags     []int     `json:"tags,omitempty"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnosticParams struct {
	documentParams
	Previous string `json:"previousResultId"`
}

// diagnosticReport is the answer of one who is asked for diagnostics. Items stand in a full one only.
type diagnosticReport struct {
	Kind     string        `json:"kind"` // full or unchanged
	ResultID string        `json:"resultId"`
	Items    *[]diagnostic `json:"items,omitempty"`
}

type rangeParams struct {
	documentParams
	Range textRange `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(s string) markup { return markup{"markdown", s} }

type hoverResult struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type completionItem struct {
	Label         string          `json:"label"`
	Kind          int             `json:"kind"`
	Detail        string          `json:"detail,omitempty"`
	Documentation *markup         `json:"documentation,omitempty"`
	SortText      string          `json:"sortText,omitempty"`
	TextEdit      *textEdit       `json:"textEdit,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

type referenceParams struct {
	positionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type prepareRenameResult struct {
	Range       textRange `json:"range"`
	Placeholder string    `json:"placeholder"`
}

type codeActionParams struct {
	documentParams
	Range   textRange `json:"range"`
	Context struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	IsPreferred bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

type documentSymbol struct {
	Name           string    `json:"name"`
	Detail         string    `json:"detail,omitempty"`
	Kind           int       `json:"kind"`
	Range          textRange `json:"range"`
	SelectionRange textRange `json:"selectionRange"`
}

type semanticTokens struct {
	Data []int `json:"data"`
}

type signatureHelp struct {
	Signatures      []signature `json:"signatures"`
	ActiveSignature int         `json:"activeSignature"`
	ActiveParameter int         `json:"activeParameter"`
}

type signature struct {
	Label         string      `json:"label"`
	Documentation *markup     `json:"documentation,omitempty"`
	Parameters    []parameter `json:"parameters"`
}

type parameter struct {
	Label string `json:"label"`
}
