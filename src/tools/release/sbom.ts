// What is in the executables, as a list that tools read: CycloneDX 1.6 in JSON. It names what `chartroom licenses` names, with
// the sums of bun.lock, and Bun. Neither the hour nor chance is in it: the same commit has the same list.

import { bundledPackages, PASSWORDS, type Package } from '../../server/source/licenses.ts'
import { lmdbOf, TARGETS } from './targets.ts'

/** Of bun.lock: name@version, where from, what of the package's description matters, the sum. */
type LockEntry = readonly [id: string, from: string, about: object, sum: string]

interface Named {
  readonly name: string
  readonly version: string
  readonly license: string
}

interface Component {
  readonly type: string
  readonly 'bom-ref': string
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly licenses: readonly object[]
  readonly purl: string
  readonly hashes?: readonly object[]
}

/** `@a/b` of the packages is `%40a/b` in a package URL. */
const purlOf = ({ name, version }: Pick<Named, 'name' | 'version'>) =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

function componentOf(one: Named, sum: string | undefined, type = 'library'): Component {
  const [, group, name = one.name] = /^(@[^/]+)\/(.*)$/.exec(one.name) ?? []
  const purl = purlOf(one)
  return {
    type,
    'bom-ref': purl,
    ...(group !== undefined && { group }),
    name,
    version: one.version,
    licenses: / (?:OR|AND) /.test(one.license)
      ? [{ expression: one.license }]
      : [{ license: { id: one.license } }],
    purl,
    ...(sum !== undefined && {
      hashes: [
        { alg: 'SHA-512', content: Buffer.from(sum.replace('sha512-', ''), 'base64').toString('hex') },
      ],
    }),
  }
}

/** @throws if bun.lock has no sum of a package that is in the executables. */
export function sbomOf(own: Named & { readonly homepage: string }, lock: string): object {
  const { packages } = Bun.JSONC.parse(lock) as { packages: Readonly<Record<string, LockEntry>> }
  const sums = new Map(Object.values(packages).map(([id, , , sum]) => [id, sum]))
  const inside = bundledPackages()
  const installed = [...inside.values()]
  const lmdb = installed.find(({ name }) => name === 'lmdb')
  const natives = TARGETS.map((target) => lmdbOf(target).package).map((name) => ({
    name,
    version: lmdb?.version ?? '',
    license: 'MIT',
  }))
  const components = new Map<string, Component>()
  for (const { name, version, license = 'MIT' } of [...installed, ...natives]) {
    const sum = sums.get(`${name}@${version}`)
    if (sum === undefined) throw new Error(`bun.lock has no sum of ${name}@${version}.`)
    const made = componentOf({ name, version, license }, sum)
    components.set(made.purl, made)
  }
  const bun = componentOf({ name: 'bun', version: Bun.version, license: 'MIT' }, undefined, 'platform')
  const passwords = componentOf(PASSWORDS, undefined, 'data')
  const root = componentOf(own, undefined, 'application')
  const needs = new Map<string, ReadonlySet<string>>()
  for (const [folder, one] of inside)
    needs.set(
      purlOf(one),
      new Set([...(needs.get(purlOf(one)) ?? []), ...neededBy(folder, inside).map(purlOf)]),
    )
  needs.set(purlOf(lmdb ?? own), new Set([...(needs.get(purlOf(lmdb ?? own)) ?? []), ...natives.map(purlOf)]))
  const all = [...components.values(), bun, passwords].toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
  const content = {
    version: 1,
    metadata: {
      component: { ...root, externalReferences: [{ type: 'website', url: own.homepage }] },
      tools: { components: [{ type: 'application', name: 'chartroom', version: own.version }] },
    },
    components: all,
    dependencies: [
      { ref: root.purl, dependsOn: all.map(({ purl }) => purl) },
      ...all.map(({ purl }) => ({ ref: purl, dependsOn: [...(needs.get(purl) ?? [])].toSorted() })),
    ],
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    ...content,
  }
}

/** Version 8 of RFC 9562, of what the list says. */
function uuidOf(text: string): string {
  const bytes = new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest()).slice(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function neededBy(folder: string, inside: ReadonlyMap<string, Package>): Package[] {
  const { dependencies = {} } = inside.get(folder) ?? {}
  const top = folder.slice(0, folder.indexOf('/node_modules/'))
  return Object.keys(dependencies).flatMap(
    (name) => inside.get(`${folder}/node_modules/${name}`) ?? inside.get(`${top}/node_modules/${name}`) ?? [],
  )
}
