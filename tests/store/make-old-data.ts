// Makes a data directory with everything a user can have, by the executable of a version, for the tests of later ones:
//
//     bun tests/store/make-old-data.ts EXECUTABLE
//
// A folder `version-X.Y.Z` is written beside this file: the database, its key, and what that version answered about it. Done
// once for each version that people can have, at its release.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Place, type Server } from '../executable/server.ts'
import { everything, OWNER } from './everything.ts'

const [file = ''] = process.argv.slice(2)
const place = new Place('executable', {}, file)
const { out } = await place.run('--version')
const version = /\d+\.\d+\.\d+/.exec(out)?.[0] ?? ''
const data = `${place.folder}/data`
const server = await place.serve('--data-dir', data)
const told = await recorded(server)

const folder = `${import.meta.dir}/version-${version}`
mkdirSync(folder)
const packed = (bytes: Uint8Array) => Bun.zstdCompressSync(bytes, { level: 19 })
writeFileSync(`${folder}/data.mdb.zst`, packed(readFileSync(`${data}/db/data.mdb`)))
writeFileSync(`${folder}/answers.json.zst`, packed(Buffer.from(JSON.stringify({ owner: OWNER, ...told }))))
copyFileSync(`${data}/instance.key`, `${folder}/instance.key`)
place.remove()

async function recorded(from: Server) {
  try {
    const { paths, token } = await everything(from)
    const answers: Record<string, { readonly status: number; readonly json: unknown }> = {}
    for (const path of paths) {
      const { status, json } = await from.call('GET', path)
      if (status !== 200) throw new Error(`${path} answered ${status}`)
      answers[path] = { status, json: json as unknown }
    }
    return { token, answers }
  } finally {
    await from.stop()
  }
}
