// Lists of names, written as people write them: `words('open high low close')`. An array of many would have one a line.

type Words<Text extends string, Before extends readonly string[] = []> = string extends Text
  ? readonly string[]
  : Text extends `${infer Word} ${infer Rest}`
    ? Words<Rest, readonly [...Before, Word]>
    : readonly [...Before, Text]

type Lines<Texts extends readonly string[]> = Texts extends readonly [
  infer Line extends string,
  ...infer Rest extends readonly string[],
]
  ? readonly [...Words<Line>, ...Lines<Rest>]
  : readonly []

/** The names in texts, one after the other; their type knows each. */
export const words = <const Texts extends readonly string[]>(...texts: Texts): Lines<Texts> =>
  texts.join(' ').split(' ') as unknown as Lines<Texts>
