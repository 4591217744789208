// Run by a test: FOLDER GRAMMAR FILE … prints, for each file, the tokens of each line as [first column, scope], by VS Code's own tokenizer.
"use strict";

const fs = require("fs");
const path = require("path");
const [folder, grammarFile, ...files] = process.argv.slice(2);
const modules = path.join(folder, "node_modules");
const oniguruma = require(path.join(modules, "vscode-oniguruma"));
const textmate = require(path.join(modules, "vscode-textmate"));

async function main() {
  await oniguruma.loadWASM(fs.readFileSync(path.join(modules, "vscode-oniguruma", "release", "onig.wasm")).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(grammarFile, "utf8"), grammarFile),
  });
  const grammar = await registry.loadGrammar("source.wire");
  for (const file of files) {
    let state = textmate.INITIAL;
    const found = fs.readFileSync(file, "utf8").split("\n").map((line) => {
      const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
      state = ruleStack;
      return tokens.map((token) => [token.startIndex, token.scopes[token.scopes.length - 1]]);
    });
    console.log(JSON.stringify(found));
  }
}

main();
