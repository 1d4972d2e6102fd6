// What a release is made of besides executables: notes, archives, manifests, the bill of materials, and the workflow. The
// executables themselves are `smoke.test.ts` and, all of them, `TEST_LONG=1`.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { unzipSync } from 'fflate'
import packageFile from '../../package.json' with { type: 'json' }
import { signedAdHoc } from '../../src/tools/macho.ts'
import { tarGz, zip } from '../../src/tools/release/archive.ts'
import { wrongInside } from '../../src/tools/release/inside.ts'
import { manifests } from '../../src/tools/release/manifests.ts'
import { notesOf } from '../../src/tools/release/notes.ts'
import { sbomOf } from '../../src/tools/release/sbom.ts'
import { archiveOf, npmNameOf, TARGETS } from '../../src/tools/release/targets.ts'
import { isLong } from '../long.ts'

const root = `${import.meta.dir}/../..`
const { version } = packageFile
const homepage = 'https://example.com/chartroom'
const folder = mkdtempSync(`${tmpdir()}/chartroom-release-`)
afterAll(() => rmSync(folder, { recursive: true }))

/** Of YAML and JSON, as loosely typed as what people write. */
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

describe('notes', () => {
  const changelog =
    '# C\n\nText.\n\n## 0.4.0 (2027-01-02)\n\n### A\n\n- one\n\n## 0.3.0 (2026-11-28)\n\n- two\n\n## 0.2.0\n\n- three\n'

  test('are the section of that version, with its day', () => {
    expect(notesOf(changelog, '0.4.0')).toEqual({ date: '2027-01-02', notes: '### A\n\n- one\n' })
    expect(notesOf(changelog, '0.3.0')).toEqual({ date: '2026-11-28', notes: '- two\n' })
  })

  test('of a version without a section, or without a day, are refused', () => {
    expect(() => notesOf(changelog, '0.4')).toThrow('CHANGELOG.md has no section for 0.4.')
    expect(() => notesOf(changelog, '0.2.0')).toThrow('no day')
  })

  test('of this version are there', () => {
    expect(notesOf(readFileSync(`${root}/CHANGELOG.md`, 'utf8'), version).notes.length).toBeGreaterThan(100)
  })
})

describe('archives', () => {
  const files = [
    { name: 'chartroom', bytes: new Uint8Array(1000).fill(65), isProgram: true },
    { name: 'LICENSE', bytes: new TextEncoder().encode('text') },
  ]
  const time = Date.UTC(2026, 10, 28) / 1000

  test('tar unpacks them, with their modes and time', () => {
    const bytes = tarGz(files, time)
    expect(tarGz(files, time)).toEqual(bytes)
    writeFileSync(`${folder}/a.tar.gz`, bytes)
    expect(Bun.spawnSync(['tar', '-xzf', 'a.tar.gz'], { cwd: folder }).exitCode).toBe(0)
    const { mode, mtimeMs, size } = statSync(`${folder}/chartroom`)
    expect([mode & 0o777, mtimeMs / 1000, size]).toEqual([0o755, time, 1000])
    expect(statSync(`${folder}/LICENSE`).mode & 0o777).toBe(0o644)
    expect(readFileSync(`${folder}/LICENSE`, 'utf8')).toBe('text')
  })

  test('zip holds them, the same bytes in every zone', () => {
    const bytes = zip(files, time)
    expect(Object.keys(unzipSync(bytes))).toEqual(['chartroom', 'LICENSE'])
    const code = `import { zip } from '${root}/src/tools/release/archive.ts'
console.log(new Bun.SHA256().update(zip([{ name: 'chartroom', bytes: new Uint8Array(1000).fill(65) }, { name: 'LICENSE', bytes: new TextEncoder().encode('text') }], ${time})).digest('hex'))`
    for (const TZ of ['Pacific/Auckland', 'America/Los_Angeles'])
      expect(
        Bun.spawnSync([process.execPath, '-e', code], { env: { ...process.env, TZ } })
          .stdout.toString()
          .trim(),
      ).toBe(new Bun.SHA256().update(bytes).digest('hex'))
  })
})

describe('manifests', () => {
  const sums = new Map(TARGETS.map((target, i) => [archiveOf(target, version), String(i).repeat(64)]))
  const made = manifests({
    version,
    date: '2026-11-28',
    description: packageFile.description,
    homepage,
    sums,
  })
  const text = (name: string) => made.get(name) ?? ''
  const urlOf = (name: string) =>
    `${homepage}/releases/download/v${version}/${archiveOf(
      TARGETS.find((one) => one.name === name)!,
      version,
    )}`

  test('Homebrew’s formula has each machine that it knows once, with its sum', () => {
    const formula = text('homebrew/chartroom.rb')
    for (const [name, i] of [
      ['darwin-arm64', 4],
      ['darwin-x64', 5],
      ['linux-x64', 0],
      ['linux-arm64', 1],
    ] as const)
      expect(formula).toContain(`url "${urlOf(name)}"\n      sha256 "${String(i).repeat(64)}"`)
    expect(formula.match(/url "/g)).toHaveLength(4)
    // Its own rules: at most 80 characters, and no full stop.
    expect(/^ {2}desc "([^"]*)"$/m.exec(formula)?.[1]).toMatch(/^.{10,79}[^.]$/)
  })

  test('Scoop’s manifest has address and sum, and finds the next version’s', () => {
    const { architecture, autoupdate, ...rest } = JSON.parse(text('scoop/chartroom.json'))
    expect(architecture).toEqual({ '64bit': { url: urlOf('windows-x64'), hash: '6'.repeat(64) } })
    const later = autoupdate.architecture['64bit'].url.replaceAll('$version', version)
    expect([later, rest.version, rest.bin]).toEqual([urlOf('windows-x64'), version, 'chartroom.exe'])
  })

  test('winget’s three files are of one version and one installer', () => {
    const [main, locale, installer] = ['', '.locale.en-US', '.installer'].map(
      (kind) => Bun.YAML.parse(text(`winget/Chartroom.Chartroom${kind}.yaml`)) as Loose,
    )
    for (const one of [main, locale, installer])
      expect(one).toMatchObject({ PackageIdentifier: 'Chartroom.Chartroom', PackageVersion: version })
    expect(main.DefaultLocale).toBe(locale.PackageLocale)
    expect(installer.Installers).toEqual([
      { Architecture: 'x64', InstallerUrl: urlOf('windows-x64'), InstallerSha256: '6'.repeat(64) },
    ])
  })

  test('without a sum of one there are none', () => {
    sums.delete(archiveOf(TARGETS[6]!, version))
    const release = { version, date: '', description: '', homepage, sums }
    expect(() => manifests(release)).toThrow(`There is no sum of chartroom-${version}-windows-x64.zip.`)
  })
})

describe('the bill of materials', () => {
  const own = { name: 'chartroom', version, license: 'Apache-2.0', homepage }
  const lock = readFileSync(`${root}/bun.lock`, 'utf8')
  const sbom = sbomOf(own, lock) as Loose

  test('is valid by the schema of CycloneDX 1.6', () => {
    const schemas = `${root}/node_modules/@cyclonedx/cyclonedx-library/res/schema`
    const read = (name: string) =>
      JSON.parse(readFileSync(`${schemas}/${name}.SNAPSHOT.schema.json`, 'utf8')) as object
    // The one that the SDK of agents brings along.
    const ofSdk = createRequire(Bun.resolveSync('@modelcontextprotocol/sdk/server/index.js', root))
    const { Ajv } = ofSdk('ajv')
    const ajv = new Ajv({ strict: false, validateFormats: false })
    for (const name of ['jsf-0.82', 'spdx', 'cryptography-defs'])
      ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
    const isValid = ajv.compile(read('bom-1.6'))
    expect(isValid(sbom) ? null : isValid.errors).toBeNull()
    expect(isValid({ ...sbom, serialNumber: 'urn:uuid:1' })).toBe(false)
  })

  test('names every dependency of package.json, LMDB’s part for each machine, and Bun', () => {
    const refs = sbom.components.map((one: Loose) => one['bom-ref']) as string[]
    expect(new Set(refs).size).toBe(refs.length)
    const purls = Object.entries(packageFile.dependencies).map(
      ([name, at]) => `pkg:npm/${name.replace('@', '%40')}@${at}`,
    )
    expect(purls.filter((purl) => !refs.includes(purl))).toEqual([])
    expect(refs.filter((ref) => ref.includes('lmdb-')).length).toBe(5)
    expect(refs).toContain(`pkg:npm/bun@${Bun.version}`)
    // Tools are in no executable.
    expect(refs.filter((ref) => /oxlint|knip|cyclonedx|playwright/.test(ref))).toEqual([])
    const known = new Set([...refs, sbom.metadata.component['bom-ref']])
    for (const { ref, dependsOn } of sbom.dependencies)
      expect([ref, ...dependsOn].filter((one) => !known.has(one))).toEqual([])
  })

  test('is the same for the same commit, and refuses a lock file of another', () => {
    expect(sbomOf(own, lock)).toEqual(sbom)
    const other = lock.replace(/"lmdb@[\d.]+"/, '"lmdb@0.0.1"')
    expect(() => sbomOf(own, other)).toThrow(/^bun.lock has no sum of lmdb@/)
  })
})

test('an executable for another machine, or with LMDB for another, is told', () => {
  const elf = new Uint8Array(100)
  elf.set([0x7f, 0x45, 0x4c, 0x46, 2, 1])
  elf[18] = 183
  const of = (name: string) => TARGETS.find((one) => one.name === name)!
  expect(wrongInside(elf, of('linux-x64'))).toBe('The executable for linux-x64 is one for linux arm64.')
  expect(wrongInside(new Uint8Array(100), of('windows-x64'))).toContain('no machine that is known')
})

describe('the workflow', () => {
  const file = readFileSync(`${root}/.github/workflows/release.yml`, 'utf8')
  const { jobs, permissions } = Bun.YAML.parse(file) as Loose
  const steps = Object.values<Loose>(jobs).flatMap(({ steps }) => steps)

  test('names every action by its commit', () => {
    const used = file.match(/uses: .*/g)!
    expect(used.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
      [],
    )
    expect(used.length).toBe(steps.filter(({ uses }) => uses !== undefined).length)
  })

  test('publishes only what was built twice and started everywhere, and only then may write', () => {
    expect(jobs.publish.needs).toEqual(['build', 'again', 'smoke'])
    expect(jobs.smoke.strategy.matrix.target).toBe('${{ fromJSON(needs.build.outputs.targets) }}')
    expect(permissions).toEqual({ contents: 'read' })
    expect(Object.keys(jobs).filter((name) => jobs[name].permissions)).toEqual(['publish'])
  })

  test('hands no expression to a shell', () => {
    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([])
  })

  test('takes from the list what it reads of it', () => {
    const { stdout } = Bun.spawnSync([process.execPath, `${root}/src/tools/release.ts`, '--list'])
    const rows = JSON.parse(stdout.toString()) as Loose[]
    expect(rows.map(({ name }) => name)).toEqual(TARGETS.map(({ name }) => name))
    const read = new Set(Array.from(file.matchAll(/matrix\.target\.(\w+)/g), ([, field = '']) => field))
    for (const field of read) expect(rows.some((row) => field in row)).toBe(true)
  })
})

test('the image is built for the architecture asked for, is nobody’s root, and says whether it is well', () => {
  const text = readFileSync(`${root}/Dockerfile`, 'utf8')
  expect(text).toContain('FROM --platform=$BUILDPLATFORM')
  expect(text).toMatch(/^USER 1000:1000$/m)
  expect(text).toMatch(/^HEALTHCHECK .*"healthcheck"\]$/m)
  expect(text).not.toMatch(/^RUN(?![^]*^FROM [^-])/m)
})

if (isLong)
  test('a release of three machines has their archives and packages, with the right parts, twice the same', async () => {
    const machines = ['darwin-arm64', 'darwin-x64', 'windows-x64'] as const
    // Each takes a minute and a half: one of them is made again, in turn.
    const again = machines.filter((_, i) => i === Number(process.env['SEED'] ?? 0) % machines.length)
    const sums = async (name: string, only: readonly string[]) => {
      const outfile = `${folder}/${name}`
      const command = [`${root}/src/tools/release.ts`, '--only', only.join(), '--outfile', outfile]
      const child = Bun.spawn([process.execPath, ...command], { stdout: 'ignore', stderr: 'pipe' })
      const said = await child.stderr.text()
      expect([
        await child.exited,
        said.replaceAll(/(?:Downloading|Decompressing|Extracting).*\n?/g, '').trim(),
      ]).toEqual([0, ''])
      return readFileSync(`${outfile}/SHA256SUMS`, 'utf8').trim().split('\n')
    }
    const one = await sums('one', machines)
    const other = await sums('other', again)
    expect([one.length, other.length]).toEqual([4, 2])
    expect(one).toEqual(expect.arrayContaining(other))
    // Bun's own signature is that of ours byte by byte.
    const signed = readFileSync(`${folder}/one/npm/@chartroom/darwin-arm64/chartroom`)
    expect(signed.equals(signedAdHoc(signed, 'a.out'))).toBe(true)
    expect(
      readdirSync(`${folder}/one/npm/@chartroom`)
        .map((name) => `@chartroom/${name}`)
        .toSorted(),
    ).toEqual(
      TARGETS.filter(({ name }) => /darwin|windows/.test(name))
        .map(npmNameOf)
        .toSorted(),
    )
  }, 600_000)
