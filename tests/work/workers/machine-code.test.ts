import { expect, test } from 'bun:test'
import { boundedEnvironment } from '../../../src/work/workers/machine-code.ts'

test('a server starts again with bounds on what is optimized, once, and keeps what somebody set', () => {
  const bounded = boundedEnvironment({ PATH: '/bin', NOTHING: undefined })
  expect(Object.keys(bounded ?? {}).toSorted()).toEqual([
    'BUN_JSC_maximumFTLCandidateBytecodeCost',
    'BUN_JSC_maximumOptimizationCandidateBytecodeCost',
    'PATH',
  ])
  expect(boundedEnvironment(bounded ?? {})).toBeNull()
  expect(boundedEnvironment({ BUN_JSC_maximumFTLCandidateBytecodeCost: '1' })).toMatchObject({
    BUN_JSC_maximumFTLCandidateBytecodeCost: '1',
  })
})
