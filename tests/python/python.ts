// Which Python the tests of the Python client run in: the machine's, or else one that comes as a package.
//
// The package is Pyodide, CPython built for WebAssembly: 14 MB. It is no dependency of the project: `tests/python` has a
// package.json and a lock of its own, which are installed where a test finds no Python that is new enough.

const CLIENT_NEEDS = 'import sys; sys.exit(sys.version_info < (3, 11))'

/** What to put before a script's name to run it, as `python3` would be. */
export async function pythonCommand(): Promise<readonly string[]> {
  const found = Bun.which('python3')
  if (found !== null && Bun.spawnSync([found, '-c', CLIENT_NEEDS]).success) return [found]
  const install = Bun.spawn([process.execPath, 'install', '--frozen-lockfile', '--silent'], {
    cwd: import.meta.dir,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if ((await install.exited) !== 0)
    throw new Error('There is no Python 3.11 here, and the packaged one could not be installed.')
  return [process.execPath, `${import.meta.dir}/packaged.ts`]
}
