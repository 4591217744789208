// Starts `wiregen lsp` for .wire files; all that the editor shows comes from there.
// @ts-check
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const INSTALL = 'pip install "wiregen[lsp]"';

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const command = vscode.workspace.getConfiguration("wiregen").get("command", "wiregen");
  client = new LanguageClient(
    "wiregen",
    "wiregen",
    { command, args: ["lsp"] },
    { documentSelector: [{ scheme: "file", language: "wire" }, { scheme: "untitled", language: "wire" }] },
  );
  try {
    await client.start();
  } catch (error) {
    const chosen = await vscode.window.showErrorMessage(
      `The language server does not start: ${command} lsp. Install it (${INSTALL}), or set wiregen.command to its path.`,
      "Open settings",
      "Show output",
    );
    if (chosen === "Open settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "wiregen.command");
    } else if (chosen === "Show output") {
      client.outputChannel.show();
    }
  }
}

async function stop() {
  const stopped = client;
  client = undefined;
  if (stopped?.isRunning()) {
    await stopped.stop();
  }
}

/** @param {vscode.ExtensionContext} context */
exports.activate = async (context) => {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("wiregen.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) =>
      change.affectsConfiguration("wiregen.command") ? restart() : undefined,
    ),
  );
  await start();
};

exports.deactivate = stop;
