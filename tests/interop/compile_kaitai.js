// Compiles .ksy files: node compile_kaitai.js FOLDER.json, a list of {"ksy": path, "folder": path, "language": word}.
"use strict";
const fs = require("fs");
const path = require("path");
const yaml = require("js-yaml");
const compiler = require("kaitai-struct-compiler");

async function main() {
  for (const { ksy, folder, language } of JSON.parse(fs.readFileSync(process.argv[2], "utf8"))) {
    const files = await compiler.compile(language, yaml.load(fs.readFileSync(ksy, "utf8")), null, false).catch((error) => {
      throw new Error(`${ksy}: ${error.message || error}`);
    });
    for (const [name, text] of Object.entries(files)) {
      const target = path.join(folder, name);
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.writeFileSync(target, text);
    }
  }
}

main().catch((error) => {
  console.error(String(error.message || error));
  process.exit(1);
});
