// Package repl will be the interactive session: it reads statements, previews pipelines and mends running jobs. It must
// not know how rows are stored or how tasks are stepped; it asks the planner and a Job.
package repl
