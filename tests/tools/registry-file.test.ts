import { expect, test } from 'bun:test'
import packageFile from '../../package.json' with { type: 'json' }
import { registryFile } from '../../src/tools/registry-file.ts'

test('the registry’s file names this version, one address to connect to, and no secret', () => {
  const file = registryFile({ ...packageFile, name: 'io.github.somebody/chartroom' }) as {
    description: string
    remotes: {
      url: string
      type: string
      variables: object
      headers: { value: string; variables: object }[]
    }[]
  }
  expect(file).toMatchObject({ name: 'io.github.somebody/chartroom', version: packageFile.version })
  expect(file.description).toBe(packageFile.description)
  expect(file.description.length).toBeLessThanOrEqual(100)
  const [remote] = file.remotes
  expect([file.remotes.length, remote?.type]).toEqual([1, 'streamable-http'])
  // Every variable is there.
  for (const { text, known } of [
    { text: remote!.url, known: remote!.variables },
    ...remote!.headers.map(({ value, variables }) => ({ text: value, known: variables })),
  ])
    expect(Object.keys(known)).toEqual(Array.from(text.matchAll(/\{(\w+)\}/g), ([, name = '']) => name))
})

test('a name that the registry would refuse is refused before', () => {
  for (const name of ['chartroom', 'a/b/c', ''])
    expect(() => registryFile({ ...packageFile, name })).toThrow('is no name in the registry')
})
