// Runs a script in Pyodide: node suite.mjs FOLDER SCRIPT
//
// FOLDER is mounted at /mounted, with site/ on Python's path; SCRIPT is run from there, and then the
// coroutine main() that it defines. Ends with the number that main() returns.
import { loadPyodide } from "pyodide";

const [folder, script] = process.argv.slice(2);
const pyodide = await loadPyodide();
pyodide.mountNodeFS("/mounted", folder);
pyodide.globals.set("script", script);
process.exit(
  await pyodide.runPythonAsync(`
import os, sys
os.chdir("/mounted")
sys.path.insert(0, "/mounted/site")
with open(script) as file:
    exec(compile(file.read(), script, "exec"))
await main()
`),
);
