import { expect, test } from 'bun:test'
import { withoutFlags } from '../../src/dashboard/markets/bar-files.ts'

test('a page says nothing of the flags of the command line', () => {
  const told = 'say dated=start (--dated start), or which has what: columns=time=… (--columns)'
  expect(withoutFlags(told)).toBe('say dated=start, or which has what: columns=time=…')
  expect(withoutFlags('a price (−1) is below 0 -- look')).toBe('a price (−1) is below 0 -- look')
})
