// What is only done in a long run, which is that of each night: `npm run test-long`, or `TEST_LONG=1 bun test …` for some files.

export const isLong = process.env['TEST_LONG'] === '1'

/** How many rounds a random test has, of those of a long run: a sixth. Each commit has a seed of its own, and so other rounds. */
export const rounds = (all: number): number => (isLong ? all : Math.ceil(all / 6))

/**
 * Of so many journeys in a browser, and pictures of pages, a short run makes one. Chromium takes two fifths of the processor in a
 * run with every third: 21 minutes altogether.
 */
export const DEALT_ONE_OF = 5

/** Whether it is the turn of one of several ways to do a thing: in a short run one, which is another one for the next thing and the next commit's seed; in a long run all. */
export const isTurn = (thing: number, way: number, ways: number): boolean =>
  isLong || (thing + Number(process.env['SEED'] ?? 0)) % ways === way
