// Remembers what a server has promised by its answers, to compare with what it has after it died.
//
// An object is known by its id. Each of its fields has a set of permitted values: the one acknowledged last, and those of
// later requests that got no answer, which may or may not have been carried out. If a request to delete it got no answer,
// the object may be there or not; if the deletion was acknowledged, it must be gone.

import type { Client, Json } from './client.ts'

type Fate = 'kept' | 'gone' | 'either'

interface Promised {
  fate: Fate
  /** The values that each field may have, as JSON. */
  readonly fields: Map<string, string[]>
}

/** One kind of object: where it is listed, and what was promised of each. */
export class Promises {
  readonly path: string
  readonly noun: string
  readonly #things = new Map<string, Promised>()

  constructor(path: string, noun: string) {
    this.path = path
    this.noun = noun
  }

  get size(): number {
    return this.#things.size
  }

  kept(): string[] {
    return [...this.#things].filter(([, { fate }]) => fate === 'kept').map(([id]) => id)
  }

  made(id: string, fields: Json): void {
    const promised = new Map<string, string[]>()
    for (const [name, value] of Object.entries(fields)) promised.set(name, [textOf(value)])
    this.#things.set(id, { fate: 'kept', fields: promised })
  }

  /** Records a change that was sent, and whether it was acknowledged. */
  changed(id: string, fields: Json, acknowledged: boolean): void {
    const thing = this.#things.get(id)
    if (!thing) return
    for (const [name, value] of Object.entries(fields)) {
      const text = textOf(value)
      thing.fields.set(name, acknowledged ? [text] : [...(thing.fields.get(name) ?? []), text])
    }
  }

  removed(id: string, acknowledged: boolean): void {
    const thing = this.#things.get(id)
    if (thing) thing.fate = acknowledged ? 'gone' : 'either'
  }

  /** Checks everything that was ever promised; answers a sentence for each broken promise. */
  async broken(client: Pick<Client, 'all'>): Promise<string[]> {
    const rows = new Map((await client.all(this.path, this.noun)).map((row) => [String(row['id']), row]))
    const broken: string[] = []
    for (const [id, thing] of this.#things) {
      const row = rows.get(id)
      if (thing.fate === 'gone' && row) broken.push(`${id} of ${this.noun} was deleted and is there`)
      else if (thing.fate === 'kept' && !row) broken.push(`${id} of ${this.noun} is lost`)
      if (row && thing.fate !== 'gone') broken.push(...this.#wrongFields(id, thing, row))
    }
    return broken
  }

  #wrongFields(id: string, { fields }: Promised, row: Json): string[] {
    const wrong: string[] = []
    for (const [name, allowed] of fields) {
      const found = textOf(row[name])
      // From now on only the value that was found is permitted.
      if (allowed.includes(found)) fields.set(name, [found])
      else
        wrong.push(
          `${name} of ${id} is ${found.slice(0, 80)}, promised was ${allowed.join(' or ').slice(0, 160)}`,
        )
    }
    return wrong
  }
}

/** Names are stored composed, however they were typed. */
const textOf = (value: unknown) => (JSON.stringify(value) ?? 'undefined').normalize('NFC')
