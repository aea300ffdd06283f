package gateway

import (
	"net/http"

	"github.com/interlock-gateway/interlock/internal/catalog"
)

// codexInstructions take the place of Codex's own for every model in the list:
// it refuses a model without any, and with empty ones it would send none
// (0.171.0, measured 2026-12).
const codexInstructions = `You are Codex, a coding agent that runs in a terminal on the user's computer. You and the user share one workspace. Work on the task until it is done, and be precise, safe and helpful.

# Working
- Look before you change: read the files that matter, and search with rg where it is there. Follow the instructions of AGENTS.md files, in the folder that they are in and below it.
- Use the tools that you are given. Run commands to find out; don't guess what a file or an output holds. Say in a sentence what you are about to do before a group of commands.
- Fix the cause and not the symptom. Keep changes small, in the style of the code around them, and leave alone what the task does not ask for. Don't add licence headers, and comments only where the code needs them.
- The workspace may have changes that are not yours. Never take them back, and never run destructive commands such as git reset --hard unless the user asks for that. Don't commit or make branches unless you are asked to.
- Check your work with the tests, builds and formatters that the project has, the narrow ones first. Don't repair failures that have nothing to do with the task; mention them.
- If a command is refused by the sandbox, ask for approval where that is possible, or find another way.

# Answering
- Be short and friendly, like a colleague who hands over work. Say what you did and where, with paths and lines such as src/app.ts:42, and what you could not check.
- Don't print whole files that you have written; the user sees them. Use lists and headings only where they help, and put commands, paths and names in backticks.
- If something that matters is unclear and you can't find it out, ask. Else decide, go on, and tell what you decided.
`

// codexList is the catalogue that Codex reads from model_catalog_url. It takes
// the whole object or nothing of the list. What it would take for a model that
// it does not know stands here, but for the window, where it is known. A user
// who is signed in with ChatGPT did not ask for it: Codex knows those models,
// and keeps what it knows.
func codexList(known *catalog.Models, names []string, r *http.Request) any {
	list := make([]any, 0, len(names))
	for _, n := range names {
		m := knownModel(known, n)
		if r.Header.Get("Chatgpt-Account-Id") != "" || m.Modality != "" && m.Modality != catalog.ModalityChat {
			continue
		}
		model := map[string]any{
			"slug": n, "display_name": n, "description": nil, "priority": len(list) + 1, "visibility": "list", "supported_in_api": true,
			"base_instructions": codexInstructions, "shell_type": "unified_exec", "experimental_supported_tools": []any{},
			"supported_reasoning_levels": []any{}, "supports_reasoning_summaries": true, "support_verbosity": false,
			"supports_parallel_tool_calls": true, "truncation_policy": map[string]any{"mode": "bytes", "limit": 10_000},
		}
		if m.ContextWindow > 0 {
			model["context_window"] = m.ContextWindow
		}
		list = append(list, model)
	}
	return map[string]any{"models": list}
}
