// The machines that a release has an executable for. The workflow, the manifests of package managers, npm's packages and the
// launcher among them are all made of this one list.

export interface Target {
  /** In the names of files and packages. */
  readonly name: string
  /** What Bun calls it. */
  readonly bun: string
  /** As `process.platform`, `process.arch` and npm's packages call them. */
  readonly os: 'linux' | 'darwin' | 'win32'
  readonly cpu: 'x64' | 'arm64'
  readonly libc?: 'glibc' | 'musl'
  /** The machine of GitHub's that starts it before it is published. */
  readonly runner: string
}

/** Bun's x64 executables ask for no AVX2: `bun-linux-x64-baseline` is the same file as `bun-linux-x64`. */
export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', bun: 'bun-linux-x64', os: 'linux', cpu: 'x64', libc: 'glibc', runner: 'ubuntu-24.04' },
  {
    name: 'linux-arm64',
    bun: 'bun-linux-arm64',
    os: 'linux',
    cpu: 'arm64',
    libc: 'glibc',
    runner: 'ubuntu-24.04-arm',
  },
  {
    name: 'linux-x64-musl',
    bun: 'bun-linux-x64-musl',
    os: 'linux',
    cpu: 'x64',
    libc: 'musl',
    runner: 'ubuntu-24.04',
  },
  {
    name: 'linux-arm64-musl',
    bun: 'bun-linux-arm64-musl',
    os: 'linux',
    cpu: 'arm64',
    libc: 'musl',
    runner: 'ubuntu-24.04-arm',
  },
  { name: 'darwin-arm64', bun: 'bun-darwin-arm64', os: 'darwin', cpu: 'arm64', runner: 'macos-15' },
  { name: 'darwin-x64', bun: 'bun-darwin-x64', os: 'darwin', cpu: 'x64', runner: 'macos-15-intel' },
  { name: 'windows-x64', bun: 'bun-windows-x64', os: 'win32', cpu: 'x64', runner: 'windows-2025' },
]

export const fileOf = ({ os }: Target): string => (os === 'win32' ? 'chartroom.exe' : 'chartroom')

export const npmNameOf = ({ name }: Target): string => `@chartroom/${name}`

/** What people download. */
export const archiveOf = ({ name, os }: Target, version: string): string =>
  `chartroom-${version}-${name}.${os === 'win32' ? 'zip' : 'tar.gz'}`

/** What of LMDB is for that machine: the package, and the file in it. */
export const lmdbOf = ({ os, cpu, libc }: Pick<Target, 'os' | 'cpu' | 'libc'>) => ({
  package: `@lmdb/lmdb-${os}-${cpu}`,
  file: libc === undefined ? 'node.napi.node' : `node.napi.${libc}.node`,
})
