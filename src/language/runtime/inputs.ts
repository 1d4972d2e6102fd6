// The user's choices for a script's inputs, checked against what each input allows.

import { words } from '../../lib/words.ts'

export const INPUT_KINDS = words(
  'int float bool string color source timeframe session symbol time price text_area enum',
)
export type InputKind = (typeof INPUT_KINDS)[number]

/** A member of an enum, known by itself. */
interface Member {
  readonly name: string
  readonly title: string
}

export interface InputSpec {
  readonly index: number
  readonly kind: InputKind
  /** The variable it is assigned to; '' if it is part of an expression. */
  readonly name: string
  readonly title: string
  /** What a value is given and shown under: its title, or its variable's name; no two inputs of a script have the same. */
  readonly label: string
  /** In run-time form; a `source` default is the built-in's name ('close'), or '' for a variable of the script . */
  readonly defval: number | string | boolean | null | object
  readonly minval: number | null
  readonly maxval: number | null
  readonly step: number | null
  readonly options: readonly (number | string | object)[] | null
  readonly tooltip: string
  readonly group: string
  readonly inline: string
  readonly confirm: boolean
  readonly display: string
  readonly active: boolean
  readonly enum: { readonly members: readonly Member[] } | null
}

/** A source input that reads a plot of another script, which is run on the same bars. */
export interface PlotSource {
  readonly script: string
  readonly inputs: Readonly<Record<string, unknown>>
  /** Its title; without one its number, counted from 0. */
  readonly plot: string
}

export function isPlotSource(value: unknown): value is PlotSource {
  if (typeof value !== 'object' || value === null) return false
  const { script, inputs, plot } = value as Partial<Record<keyof PlotSource, unknown>>
  const hasInputs = typeof inputs === 'object' && inputs !== null && !Array.isArray(inputs)
  return typeof script === 'string' && typeof plot === 'string' && hasInputs
}

interface Script {
  readonly inputs: readonly InputSpec[]
}

/** An input was refused. `input` is its title or the unknown name. */
export class InputError extends Error {
  readonly input: string
  constructor(input: string, message: string) {
    super(message)
    this.name = 'InputError'
    this.input = input
  }
}

export interface ResolvedInputs {
  /** Run-time values by number; for a source input the name of its column, '' = the script's own default, or another's plot. */
  readonly values: readonly unknown[]
  /** The values as the report shows them, by title. */
  readonly shown: Readonly<Record<string, unknown>>
}

/**
 * The labels of a script's inputs. TradingView shows two inputs of one title alike and tells them apart by number, so the
 * second one is `Length (2)` here; what the script itself calls so keeps its name.
 */
export function labelsOf(inputs: readonly Pick<InputSpec, 'index' | 'name' | 'title'>[]): string[] {
  const titles = inputs.map(({ title, name, index }) => title || name || `Input ${index + 1}`)
  const taken = new Set<string>()
  return titles.map((title) => {
    let label = title
    for (let number = 2; taken.has(label) || (number > 2 && titles.includes(label)); number++)
      label = `${title} (${number})`
    taken.add(label)
    return label
  })
}

const SOURCES = ['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4', 'hlcc4', 'volume'] as const

/** An input as a form needs it: values as a report shows them. */
export interface InputView {
  /** What a value is given under. */
  readonly label: string
  readonly kind: InputSpec['kind']
  readonly default: unknown
  readonly minval: number | null
  readonly maxval: number | null
  readonly step: number | null
  readonly options: readonly (number | string)[] | null
  readonly tooltip: string
  readonly group: string
  readonly inline: string
  readonly active: boolean
}

export function inputViews(program: Script): InputView[] {
  return program.inputs.map((input) => {
    const { kind, minval, maxval, step, tooltip, group, inline, active } = input
    const options = input.options ?? input.enum?.members ?? null
    return {
      label: input.label,
      kind,
      default: shownValue(input, input.defval),
      minval,
      maxval,
      step,
      options: options?.map((one) => (typeof one === 'object' ? (one as Member).title : one)) ?? null,
      tooltip,
      group,
      inline,
      active,
    }
  })
}

/** By its title, or else by the name of its variable. */
export function inputNamed({ inputs }: Script, name: string): InputSpec | undefined {
  return inputs.find((one) => one.label === name) ?? inputs.find((one) => one.name === name)
}

/** The first of the names that none of the script's inputs has, with those that there are; null if each has one. */
export function unknownInputOf(program: Script, names: readonly string[]): InputError | null {
  const unknown = names.find((name) => !inputNamed(program, name))
  return unknown === undefined ? null : unknownInput(program, unknown)
}

export function resolveInputs(program: Script, chosen: Readonly<Record<string, unknown>>): ResolvedInputs {
  const given = new Map<InputSpec, unknown>()
  for (const [name, value] of Object.entries(chosen)) {
    const input = inputNamed(program, name)
    if (!input) throw unknownInput(program, name)
    given.set(input, value)
  }
  const shown: Record<string, unknown> = {}
  const values = program.inputs.map((input) => {
    const value = given.has(input) ? readInput(input, given.get(input)) : input.defval
    shown[input.label] = shownValue(input, value)
    return value
  })
  return { values, shown }
}

const unknownInput = (program: Script, name: string): InputError =>
  new InputError(name, `This script has no input named "${name}".${namesOf(program)}`)

function namesOf(program: Script): string {
  if (program.inputs.length === 0) return ' It has no inputs.'
  const names = program.inputs.slice(0, 20).map((input) => `"${input.label}"`)
  return ` It has ${names.join(', ')}${program.inputs.length > 20 ? ' and more' : ''}.`
}

function readInput(input: InputSpec, value: unknown): InputSpec['defval'] {
  const { label } = input
  const wrong = (expected: string): never => {
    throw new InputError(
      label,
      `Input "${label}" takes ${expected}, not ${JSON.stringify(value) ?? 'nothing'}.`,
    )
  }
  // The script's own default is taken even where it lies outside of its own bounds.
  if (input.kind !== 'source' && value === input.defval) return input.defval
  switch (input.kind) {
    case 'int':
    case 'float':
    case 'price': {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      if (typeof number !== 'number' || !Number.isFinite(number))
        return wrong(input.kind === 'int' ? 'a whole number' : 'a number')
      if (input.kind === 'int' && !Number.isInteger(number)) return wrong('a whole number')
      if (input.options && !input.options.includes(number)) return wrong(oneOf(input))
      if (input.minval !== null && number < input.minval) return wrong(`${input.minval} or more`)
      if (input.maxval !== null && number > input.maxval) return wrong(`${input.maxval} or less`)
      return number
    }
    case 'time': {
      const time = typeof value === 'string' ? Date.parse(value) : value
      return typeof time === 'number' && Number.isFinite(time)
        ? time
        : wrong('a time: milliseconds since 1970 or a date such as 2024-01-31')
    }
    case 'bool':
      return typeof value === 'boolean' ? value : wrong('true or false')
    case 'color':
      return readColor(value) ?? wrong('a colour such as #2962FF')
    case 'enum': {
      const member = input.enum?.members.find((one) => one.title === value || one.name === value)
      return member ?? wrong(oneOf(input))
    }
    case 'source':
      if (isPlotSource(value)) return value
      return typeof value === 'string' && (SOURCES as readonly string[]).includes(value)
        ? value
        : wrong(`one of ${SOURCES.join(', ')}, or a plot of another script as {script, inputs, plot}`)
    default:
      if (typeof value !== 'string') return wrong('a text')
      if (input.options && !input.options.includes(value)) return wrong(oneOf(input))
      return value
  }
}

function oneOf(input: InputSpec): string {
  const options = input.options ?? input.enum?.members ?? []
  return `one of ${options.map((option) => JSON.stringify(typeof option === 'object' ? (option as Member).title : option)).join(', ')}`
}

function readColor(value: unknown): number | null {
  if (typeof value === 'number' && value >= 0 && value <= 0xffffffff) return value
  const match = typeof value === 'string' ? /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(value) : null
  return match ? Number.parseInt(`${match[1] ?? ''}${match[2] ?? 'ff'}`, 16) : null
}

function shownValue(input: InputSpec, value: InputSpec['defval']): unknown {
  if (input.kind === 'color' && typeof value === 'number' && !Number.isNaN(value))
    return `#${value.toString(16).padStart(8, '0').toUpperCase()}`
  if (typeof value === 'number' && Number.isNaN(value)) return null
  if (isPlotSource(value)) return value
  if (typeof value === 'object' && value !== null) return (value as Member).title
  return value
}
