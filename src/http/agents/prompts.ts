// What a user may start an agent with: tasks around a script, put into words that name the tools they need.

import type { Prompt } from '@modelcontextprotocol/sdk/types.js'
import { AgentError } from './agent-error.ts'

interface Task {
  readonly description: string
  readonly arguments: Readonly<Record<string, { readonly description: string; readonly required: boolean }>>
  /** Takes the values of the arguments; '' for those that are not given. */
  readonly text: (given: Readonly<Record<string, string>>) => string
}

const SCRIPT = { description: 'Its source, or the id of a saved script.', required: true }
const MARKET = { description: 'Exchange, symbol and interval, such as BINANCE:BTCUSDT 1h.', required: false }

const on = (market = '') =>
  market === ''
    ? 'on a market that has bars (the tool find names them)'
    : `on ${market} (the tool find says what is there)`

const TASKS: Readonly<Record<string, Task>> = {
  write_strategy: {
    description: 'Write a Pine Script strategy from a description, and run it.',
    arguments: { idea: { description: 'What it should do, in words.', required: true }, market: MARKET },
    text: ({ idea = '', market }) =>
      `Write a Pine Script v6 strategy: ${idea}

Read chartroom://pine/strategy and the name spaces you need for exact signatures. Give every number that matters an input with a title. Check it with write_script and mend what it says until nothing is left. Then call the tool run ${on(market)} and tell me what it trades, its figures, what the tool judge says about luck, word for word, and what you would not trust. Do not save it unless I ask.`,
  },
  fix_script: {
    description: 'Mend a script that does not compile, or stops while it runs.',
    arguments: {
      script: SCRIPT,
      problem: { description: 'What goes wrong, if it compiles.', required: false },
    },
    text: ({ script = '', problem = '' }) =>
      `Mend this Pine Script with as few changes as possible${problem && `. What goes wrong: ${problem}`}. Check it with write_script, follow the hints, and check again until nothing is left. Say for each change what was wrong. Keep the version it is written in.

${script}`,
  },
  optimise_strategy: {
    description: 'Look for better inputs of a strategy, and say honestly whether they are luck.',
    arguments: { script: SCRIPT, market: MARKET },
    text: ({ script = '', market }) =>
      `Look for better inputs of this strategy ${on(market)}. Choose two or three inputs that matter and ranges that a trader would take, keep conditions such as fast < slow, and call the tool optimise once. Prefer the most robust choice to the best. Then call the tool judge for one candidate, and tell me its verdict first, as it is: how many were tried, the chance that luck alone did this, what the bars held out say. Say so if nothing is worth trading.

${script}`,
  },
  explain_strategy: {
    description: 'Explain a strategy to a trader: when it buys and sells, and what it risks.',
    arguments: { script: SCRIPT },
    text: ({ script = '' }) =>
      `Explain this strategy to a trader who does not program: when it enters, when it leaves, how much it risks, in which markets it must fail, and whether anything in it looks into the future (write_script warns of that). If it is a saved script, the tool read shows it.

${script}`,
  },
}

export const PROMPTS: readonly Prompt[] = Object.entries(TASKS).map(([name, task]) => ({
  name,
  description: task.description,
  arguments: Object.entries(task.arguments).map(([argument, about]) => ({ name: argument, ...about })),
}))

/** The first message of a conversation. Throws a sentence if the prompt or one of its arguments is missing. */
export function promptText(name: string, given: Readonly<Record<string, string>>): string {
  const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined
  if (!task)
    throw new AgentError(
      'invalid_params',
      `There is no prompt ${name}; there are ${Object.keys(TASKS).join(', ')}.`,
    )
  const missing = Object.entries(task.arguments).find(
    ([argument, { required }]) => required && !given[argument]?.trim(),
  )
  if (missing)
    throw new AgentError('invalid_params', `${name} needs ${missing[0]}: ${missing[1].description}`)
  return task.text(given)
}
