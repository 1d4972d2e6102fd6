// The catalogue of codes and what the sources throw are the same set.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { PROBLEM_CODES } from '../../src/lib/problem-codes.ts'

const root = `${import.meta.dir}/../../src`
const files = [...new Bun.Glob('**/*.ts').scanSync(root)].filter((file) => !file.endsWith('problem-codes.ts'))
const texts = new Map(files.map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]))

test('every code of the catalogue is thrown somewhere', () => {
  const all = [...texts.values()].join('\n')
  expect(Object.keys(PROBLEM_CODES).filter((code) => !all.includes(`'${code}'`))).toEqual([])
})

test('a code is thrown with the status that the catalogue has', () => {
  const wrong = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/new Problem\(\s*(\d{3}),\s*'(\w+)'/g)]
      .filter(([, status, code = '']) => {
        const entry = PROBLEM_CODES[code as keyof typeof PROBLEM_CODES]
        return entry?.status !== Number(status)
      })
      .map(([, status, code]) => `${file}: ${status} ${code}`),
  )
  expect(wrong).toEqual([])
})

test('meanings and remedies are sentences', () => {
  for (const [code, { meaning, remedy }] of Object.entries(PROBLEM_CODES))
    for (const text of [meaning, remedy])
      expect([code, text]).toEqual([code, expect.stringMatching(/^[A-Z`].*\.$/)])
})
