// Starts `ebb lsp` for scripts. All that it knows of the language is in the server.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = vscode.workspace.getConfiguration("ebb").get("path", "ebb");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = { command, args: ["lsp"], transport: TransportKind.stdio, options: { cwd: folder } };
  client = new LanguageClient("ebb", "Ebb", server, {
    documentSelector: [{ language: "ebb" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{ebb,csv,jsonl,toml}") },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(`Ebb: cannot start \`${command} lsp\` (${error.message ?? error}). Install ebb, or set "ebb.path".`);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  await old?.stop();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("ebb.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("ebb.path")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
