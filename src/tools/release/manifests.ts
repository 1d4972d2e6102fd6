// What package managers are told of a release: Homebrew's formula, Scoop's and winget's manifests.

import { archiveOf, TARGETS, type Target } from './targets.ts'

export interface Release {
  readonly version: string
  /** `2026-11-28` */
  readonly date: string
  readonly description: string
  /** Of the project: `https://github.com/chartroom/chartroom`. */
  readonly homepage: string
  /** SHA-256 of archives by name, in hexadecimal. */
  readonly sums: ReadonlyMap<string, string>
}

/** Texts by file name. */
export function manifests(release: Release): Map<string, string> {
  return new Map([
    ['homebrew/chartroom.rb', formula(release)],
    ['scoop/chartroom.json', `${JSON.stringify(scoop(release), null, 2)}\n`],
    ...Object.entries(winget(release)).map(
      ([kind, fields]) =>
        [`winget/Chartroom.Chartroom${kind}.yaml`, `${Bun.YAML.stringify(fields, null, 2)}\n`] as const,
    ),
  ])
}

function addressOf({ homepage, version, sums }: Release, target: Target): { url: string; sum: string } {
  const file = archiveOf(target, version)
  const sum = sums.get(file)
  if (sum === undefined) throw new Error(`There is no sum of ${file}.`)
  return { url: `${homepage}/releases/download/v${version}/${file}`, sum }
}

function formula(release: Release): string {
  const of = (os: Target['os']) =>
    TARGETS.filter((target) => target.os === os && target.libc !== 'musl')
      .map((target) => {
        const { url, sum } = addressOf(release, target)
        return `    on_${target.cpu === 'arm64' ? 'arm' : 'intel'} do
      url "${url}"
      sha256 "${sum}"
    end`
      })
      .join('\n')
  return `class Chartroom < Formula
  desc "${release.description.split(':')[0]}"
  homepage "${release.homepage}"
  version "${release.version}"
  license "Apache-2.0"

  on_macos do
${of('darwin')}
  end

  on_linux do
${of('linux')}
  end

  def install
    bin.install "chartroom"
  end

  service do
    run [opt_bin/"chartroom", "serve"]
    environment_variables DATA_DIR: var/"chartroom"
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/chartroom --version")
  end
end
`
}

const windows = () => TARGETS.filter(({ os }) => os === 'win32')

function scoop(release: Release): object {
  const { version, description, homepage } = release
  const names: Readonly<Record<Target['cpu'], string>> = { x64: '64bit', arm64: 'arm64' }
  const each = (made: (target: Target) => object) =>
    Object.fromEntries(windows().map((target) => [names[target.cpu], made(target)]))
  return {
    version,
    description,
    homepage,
    license: 'Apache-2.0',
    architecture: each((target) => {
      const { url, sum } = addressOf(release, target)
      return { url, hash: sum }
    }),
    bin: 'chartroom.exe',
    checkver: { github: homepage },
    autoupdate: {
      architecture: each((target) => ({
        url: addressOf(release, target).url.replaceAll(version, '$version'),
      })),
      hash: { url: '$baseurl/SHA256SUMS' },
    },
  }
}

/** The three files of a version, by what is between name and ending. */
function winget(release: Release): Readonly<Record<string, object>> {
  const { version, description, homepage, date } = release
  const of = (type: string, fields: object) => ({
    PackageIdentifier: 'Chartroom.Chartroom',
    PackageVersion: version,
    ...fields,
    ManifestType: type,
    ManifestVersion: '1.10.0',
  })
  return {
    '': of('version', { DefaultLocale: 'en-US' }),
    '.locale.en-US': of('defaultLocale', {
      PackageLocale: 'en-US',
      Publisher: 'Chartroom',
      PackageName: 'Chartroom',
      PackageUrl: homepage,
      License: 'Apache-2.0',
      ShortDescription: description,
      ReleaseNotesUrl: `${homepage}/releases/tag/v${version}`,
    }),
    '.installer': of('installer', {
      InstallerType: 'zip',
      NestedInstallerType: 'portable',
      NestedInstallerFiles: [{ RelativeFilePath: 'chartroom.exe', PortableCommandAlias: 'chartroom' }],
      ReleaseDate: date,
      Installers: windows().map((target) => {
        const { url, sum } = addressOf(release, target)
        return { Architecture: target.cpu, InstallerUrl: url, InstallerSha256: sum.toUpperCase() }
      }),
    }),
  }
}
