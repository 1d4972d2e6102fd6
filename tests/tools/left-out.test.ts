// What the executable leaves out of packages is found wherever the project lies.

import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { leftOut } from '../../src/tools/left-out.ts'

test('the one file of a package that is bundled is found below a folder whose name ends in `build`', async () => {
  const above = mkdtempSync(`${tmpdir()}/chartroom-`)
  const folder = `${above}/сборка a build/x`
  const name = '@peculiar/asn1-ecc'
  try {
    mkdirSync(folder, { recursive: true })
    cpSync(`${import.meta.dir}/../../node_modules/${name}`, `${folder}/node_modules/${name}`, {
      recursive: true,
    })
    writeFileSync(`${folder}/main.js`, `export { ECDSASigValue } from '${name}'`)
    const { success, outputs } = await Bun.build({
      entrypoints: [`${folder}/main.js`],
      plugins: [leftOut],
      external: ['@peculiar/asn1-schema', 'tslib'],
    })
    expect([success, outputs.length]).toEqual([true, 1])
    expect(await outputs[0]?.text()).toContain('class ECDSASigValue')
  } finally {
    rmSync(above, { recursive: true })
  }
})
