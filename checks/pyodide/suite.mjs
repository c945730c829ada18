// Runs Python in Pyodide: node suite.mjs FOLDER SCRIPT ARGUMENT...
//
// FOLDER is mounted at /work, with site/ on Python's path; SCRIPT is run from there. Ends with the number
// that the script leaves in `code`.
import { loadPyodide } from "pyodide";

const [folder, script, ...rest] = process.argv.slice(2);
const pyodide = await loadPyodide();
pyodide.mountNodeFS("/work", folder);
pyodide.globals.set("argv", pyodide.toPy([script, ...rest]));
await pyodide.runPythonAsync(`
import os, sys
os.chdir("/work")
sys.path[:0] = ["/work/site"]
sys.argv[:] = argv
with open(argv[0]) as file:
    source = compile(file.read(), argv[0], "exec", 0x2000)  # top-level await
code = 1
`);
const wait = pyodide.runPython("eval(source, globals())");
if (wait !== undefined) await wait;
process.exit(pyodide.globals.get("code"));
