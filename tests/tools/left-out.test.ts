// What the executable leaves out of packages is found wherever the project lies.

import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { leftOut } from '../../src/tools/left-out.ts'

test('the one file of a package that is bundled is found below a folder whose name ends in `build`', async () => {
  const above = mkdtempSync(`${tmpdir()}/chartroom-`)
  const folder = `${above}/сборка a build/x`
  const name = '@peculiar/asn1-ecc'
  // What it needs of this one is taken from a file of it, too.
  const helpers = 'tslib'
  try {
    mkdirSync(folder, { recursive: true })
    for (const one of [name, helpers])
      cpSync(`${import.meta.dir}/../../node_modules/${one}`, `${folder}/node_modules/${one}`, {
        recursive: true,
      })
    writeFileSync(`${folder}/main.js`, `export { ECDSASigValue } from '${name}'`)
    const { success, outputs } = await Bun.build({
      entrypoints: [`${folder}/main.js`],
      plugins: [leftOut],
      external: ['@peculiar/asn1-schema'],
    })
    expect([success, outputs.length]).toEqual([true, 1])
    const text = await outputs[0]?.text()
    expect(text).toContain('class ECDSASigValue')
    expect(text).not.toContain('__asyncGenerator')
  } finally {
    rmSync(above, { recursive: true })
  }
})
