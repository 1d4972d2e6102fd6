// What is only done in a long run, which is that of each night: `npm run test-long`, or `TEST_LONG=1 bun test …` for some files.

export const isLong = process.env['TEST_LONG'] === '1'

/** How many rounds a random test has, of those of a long run: a sixth. Each commit has a seed of its own, and so other rounds. */
export const rounds = (all: number): number => (isLong ? all : Math.ceil(all / 6))
