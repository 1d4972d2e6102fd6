// Runs a script in the packaged Python: `bun packaged.ts -W error FILE`, in the script's folder.
//
// WebAssembly has no sockets, and Python waits for an answer where JavaScript cannot. So a worker holds the connections, and
// this thread sleeps until the worker has done what Python asked for. Above that everything is Python's own: `http.client`
// writes and reads real HTTP over real TCP.

import { readdirSync, readFileSync } from 'node:fs'
import { ANSWER_BYTES, type Asked, type Wish } from './sockets.ts'

interface Pyodide {
  readonly FS: { writeFile(path: string, bytes: Uint8Array): void }
  setStdout(to: { batched(line: string): void }): void
  setStderr(to: { batched(line: string): void }): void
  registerJsModule(name: string, module: object): void
  runPython(code: string): unknown
}

/** `connections` is the module that is registered below. */
const SETTING_UP = `
import io, socket, sys, warnings
import connections

class Incoming(io.RawIOBase):
    def __init__(self, id):
        self.id = id
    def readable(self):
        return True
    def readinto(self, room):
        found = connections.receive(self.id, len(room)).to_bytes()
        room[:len(found)] = found
        return len(found)

class Connection:
    def __init__(self, address, *_):
        self.id = connections.open(*address)
        if self.id == 0:
            raise ConnectionRefusedError(111, "Connection refused")
    def sendall(self, data):
        connections.send(self.id, bytes(data))
    def makefile(self, mode):
        return io.BufferedReader(Incoming(self.id))
    def setsockopt(self, *_):
        pass
    def close(self):
        connections.close(self.id)

socket.create_connection = Connection
warnings.simplefilter("error")
sys.path.insert(0, ".")
`

const name = process.argv.at(-1)!
const worker = new Worker(new URL('sockets.ts', import.meta.url).href)
await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }))

/** Sleeps until the worker has done it. */
function ask(wish: Wish): { readonly number: number; readonly bytes: Uint8Array } {
  const answer = new SharedArrayBuffer(ANSWER_BYTES)
  const [done, number, length] = [0, 1, 2]
  const words = new Int32Array(answer, 0, 3)
  worker.postMessage({ ...wish, answer } satisfies Asked)
  Atomics.wait(words, done, 0)
  return { number: words[number]!, bytes: new Uint8Array(answer).slice(12, 12 + words[length]!) }
}

const { loadPyodide } = (await import(`${import.meta.dir}/node_modules/pyodide/pyodide.mjs`)) as {
  loadPyodide(): Promise<Pyodide>
}
const python = await loadPyodide()
python.setStdout({ batched: (line) => console.log(line) })
python.setStderr({ batched: (line) => console.error(line) })
python.registerJsModule('connections', {
  open: (host: string, port: number) => ask({ to: 'open', host, port }).number,
  receive: (id: number, most: number) => ask({ to: 'receive', id, most }).bytes,
  send: (id: number, data: { toJs(): Uint8Array }) => void ask({ to: 'send', id, bytes: data.toJs() }),
  close: (id: number) => void ask({ to: 'close', id }),
})
for (const file of readdirSync('.').filter((one) => one.endsWith('.py')))
  python.FS.writeFile(file, readFileSync(file))
python.runPython(SETTING_UP)
python.runPython(
  `import runpy; runpy.run_path(${JSON.stringify(name)}, run_name="__main__"); sys.stdout.flush()`,
)
process.exit(0)
