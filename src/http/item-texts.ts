// Keeps the JSON text of the items of lists, by the version of the record that each was made of.
//
// When one of a hundred items has changed, or when somebody asks for another page, the list has to be made again. What the
// other items look like on the wire is known already: their records need not be read, parsed and printed again, which was
// nine tenths of the time. While nothing was written to the store, not even their versions are asked for.

import type { Collection } from '../store/collection.ts'
import type { Version } from '../store/kv.ts'
import { JsonText } from './json-text.ts'
import type { MomentOf } from './kept-answers.ts'

interface Owned {
  readonly id: string
  readonly ownerId: string
}

interface Item {
  readonly version: Version
  /** The moment of the store at which the record had it; null where the store does not tell. */
  at: number | null
  readonly ownerId: string
  /** As its owner sees it, or as others do. */
  readonly own: string | null
  readonly others: string | null
}

/** Letters of all texts; the one made first makes room. */
const LETTERS_MAX = 4 << 20

export class ItemTexts<T extends Owned> {
  readonly #records: Pick<Collection<T>, 'versions' | 'storedMany'>
  readonly #wire: (record: T, isOwn: boolean) => object
  readonly #moment: MomentOf
  readonly #known = new Map<string, Item>()
  #letters = 0

  /** `wire` may depend on whether the reader owns the record, and on nothing else but the record. */
  constructor(
    records: Pick<Collection<T>, 'versions' | 'storedMany'>,
    wire: (record: T, isOwn: boolean) => object,
    moment: MomentOf = () => null,
  ) {
    this.#records = records
    this.#wire = wire
    this.#moment = moment
  }

  /** The records of these ids that exist, as a list of JSON. `reader` is null for nobody. */
  async list(ids: readonly string[], reader: string | null): Promise<JsonText> {
    const at = this.#moment()
    const texts = ids.map((id) => this.#textAt(at, id, reader))
    const unsure = ids.filter((_, i) => texts[i] === null)
    if (unsure.length > 0) {
      const made = await this.#made(unsure, reader, at)
      for (const [i, id] of ids.entries()) texts[i] ??= made.get(id) ?? null
    }
    const pieces: string[] = []
    for (const text of texts) if (text !== null) pieces.push(pieces.length === 0 ? '[' : ',', text)
    pieces.push(pieces.length === 0 ? '[]' : ']')
    return new JsonText(pieces)
  }

  /** The text of a record that nobody can have changed. */
  #textAt(at: number | null, id: string, reader: string | null): string | null {
    const item = at === null ? undefined : this.#known.get(id)
    return item && item.at === at ? textFor(item, reader) : null
  }

  async #made(ids: readonly string[], reader: string | null, at: number | null) {
    const versions = await this.#records.versions(ids)
    const texts = new Map<string, string>()
    const missing: string[] = []
    for (const [i, id] of ids.entries()) {
      const item = this.#known.get(id)
      const isSame = item !== undefined && item.version === versions[i]
      if (isSame) item.at = at
      const text = isSame ? textFor(item, reader) : null
      if (text === null) missing.push(id)
      else texts.set(id, text)
    }
    for (const { record, version } of await this.#records.storedMany(missing)) {
      const isOwn = record.ownerId === reader
      const text = JSON.stringify(this.#wire(record, isOwn))
      texts.set(record.id, text)
      this.#keep(record, { version, at }, isOwn, text)
    }
    return texts
  }

  #keep(
    { id, ownerId }: Owned,
    { version, at }: Pick<Item, 'version' | 'at'>,
    isOwn: boolean,
    text: string,
  ): void {
    const before = this.#known.get(id)
    const same = before?.version === version ? before : null
    this.#drop(id, before)
    const item: Item = {
      version,
      at,
      ownerId,
      own: isOwn ? text : (same?.own ?? null),
      others: isOwn ? (same?.others ?? null) : text,
    }
    this.#known.set(id, item)
    this.#letters += lettersOf(item)
    for (const [oldest, one] of this.#known) {
      if (this.#letters <= LETTERS_MAX) break
      this.#drop(oldest, one)
    }
  }

  #drop(id: string, item: Item | undefined): void {
    if (!item) return
    this.#letters -= lettersOf(item)
    this.#known.delete(id)
  }
}

const textFor = ({ ownerId, own, others }: Item, reader: string | null): string | null =>
  ownerId === reader ? own : others

const lettersOf = ({ own, others }: Item): number => (own?.length ?? 0) + (others?.length ?? 0)
