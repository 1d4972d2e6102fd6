// `bun run release`: all that a release of this commit is, in dist/release. An archive a machine, their sums, what is in them as
// a bill of materials, manifests for package managers, the packages for npm, and the notes. Nothing is published here: the
// workflow `release.yml` does that, after the same files were started on their own machines.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import packageFile from '../../package.json' with { type: 'json' }
import { commandLine, refused } from './command-line.ts'
import { installNatives } from './lmdb-plugin.ts'
import { npmPackage, platformPackage } from './npm-package.ts'
import { tarGz, zip } from './release/archive.ts'
import { wrongInside } from './release/inside.ts'
import { manifests } from './release/manifests.ts'
import { notesOf } from './release/notes.ts'
import { sbomOf } from './release/sbom.ts'
import { archiveOf, fileOf, npmNameOf, TARGETS, type Target } from './release/targets.ts'

const root = resolve(import.meta.dir, '../..')
const HELP = `bun run release [--only ${TARGETS[0]?.name},…] [--outfile FOLDER] | --list

Makes all files of a release of this version, in dist/release.

  --only NAMES      Of these machines only, without manifests: ${TARGETS.map(({ name }) => name).join(', ')}
  --outfile FOLDER  Where to; dist/release
  --list            Instead: the machines as JSON, as the workflow takes them`
const { values } = commandLine(HELP, {
  only: { type: 'string' },
  outfile: { type: 'string' },
  list: { type: 'boolean' },
})
const { version, license, description } = packageFile
const homepage = packageFile.repository.url.replace(/^git\+|\.git$/g, '')
if (values.list) {
  const rows = TARGETS.map((target) => ({
    ...target,
    archive: archiveOf(target, version),
    file: fileOf(target),
  }))
  console.log(JSON.stringify(rows))
} else await release(chosen())

function chosen(): readonly Target[] {
  if (values.only === undefined) return TARGETS
  return values.only.split(',').map((name) => {
    const target = TARGETS.find((one) => one.name === name)
    return target ?? refused(HELP, `There is no machine ${name}.`)
  })
}

async function release(targets: readonly Target[]): Promise<void> {
  const { date, notes } = notesOf(readFileSync(`${root}/CHANGELOG.md`, 'utf8'), version)
  const folder = resolve(values.outfile ?? `${root}/dist/release`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // Each executable is looked through for all of them.
  await installNatives()
  const sums = new Map<string, string>()
  const put = async (name: string, content: string | Uint8Array) => {
    await Bun.write(`${folder}/${name}`, content)
    sums.set(name, new Bun.CryptoHasher('sha256').update(content).digest('hex'))
  }
  // A day of the calendar, so that the same commit has the same archives.
  const time = Date.parse(date) / 1000
  for (const target of targets) {
    const executable = await built(target)
    const others = ['LICENSE', 'NOTICE'].map((name) => ({ name, bytes: readFileSync(`${root}/${name}`) }))
    const files = [{ name: fileOf(target), bytes: executable, isProgram: true }, ...others]
    await put(archiveOf(target, version), target.os === 'win32' ? zip(files, time) : tarGz(files, time))
    await writePackage(`${folder}/npm/${npmNameOf(target)}`, platformPackage(target, executable))
    chmodSync(`${folder}/npm/${npmNameOf(target)}/${fileOf(target)}`, 0o755)
  }
  await writePackage(`${folder}/npm/chartroom`, await npmPackage())
  const sbom = sbomOf(
    { name: 'chartroom', version, license, homepage },
    readFileSync(`${root}/bun.lock`, 'utf8'),
  )
  await put(`chartroom-${version}.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`)
  const lines = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`)
  await Bun.write(`${folder}/SHA256SUMS`, lines.join(''))
  await Bun.write(`${folder}/notes.md`, notes)
  if (values.only === undefined)
    for (const [name, text] of manifests({ version, date, description, homepage, sums }))
      await Bun.write(`${folder}/${name}`, text)
  console.log(`${folder}\n${lines.join('')}`)
}

async function writePackage(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  for (const [name, content] of files) await Bun.write(`${folder}/${name}`, content)
}

/** Its executable; ends the program if it cannot be built, or is not one for that machine. */
async function built(target: Target): Promise<Uint8Array> {
  mkdirSync(`${root}/dist`, { recursive: true })
  const folder = mkdtempSync(`${root}/dist/.release-`)
  try {
    const outfile = `${folder}/${fileOf(target)}`
    const command = [`${import.meta.dir}/build.ts`, '--target', target.name, '--outfile', outfile]
    const child = Bun.spawn([process.execPath, ...command], { stdio: ['ignore', 'inherit', 'inherit'] })
    if ((await child.exited) !== 0) process.exit(1)
    const executable = readFileSync(outfile)
    const wrong = wrongInside(executable, target)
    if (wrong !== null) {
      console.error(wrong)
      process.exit(1)
    }
    return executable
  } finally {
    rmSync(folder, { recursive: true })
  }
}
