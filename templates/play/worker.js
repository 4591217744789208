// Answers questions, in their order, by wiregen's own modules: they run in Pyodide, which is loaded with the first question.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const ARCHIVE = "/wiregen.zip";
const BEGIN = `
import sys
sys.path.insert(0, "${ARCHIVE}")
from wiregen.site.playground.browser import answers_of
answers_of("${ARCHIVE}")
`;
const begin = async () => {
  const beside = (name) => new URL(name, import.meta.url).href;
  const [python, archive] = await Promise.all([loadPyodide({ indexURL: beside("pyodide/") }), fetch(beside("wiregen.zip"))]);
  if (!archive.ok) throw new Error(`wiregen.zip: ${archive.status}`);
  python.FS.writeFile(ARCHIVE, new Uint8Array(await archive.arrayBuffer()));
  return python.runPython(BEGIN);
};
const ready = begin();
let last = Promise.resolve();
const reply = async (asked) => {
  let answer;
  try { answer = await ready; } catch (error) { return { failed: String(error) }; }
  try { return { text: answer(asked) }; } catch { return { failed: "it took too much memory" }; }
};
addEventListener("message", ({ data }) => { last = last.then(async () => postMessage(await reply(data))); });
