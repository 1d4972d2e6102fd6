// MiniSearch with lists of where a word stands that take an eighth of the memory.
//
// MiniSearch keeps a Map of fields a word, and in it a Map a field, from document to how often. That is some sixty bytes an
// entry and a kilobyte a word, and an index is hardly anything else: 50,000 ideas were 1.2 GB. Documents are numbered in
// the order they are added, so a list of plain numbers, each a document and its frequency, is sorted by itself and
// takes eight. A word that stands in one text, as most do, needs no list.

import MiniSearch, { type Options } from 'minisearch'

/** A text has at most 20,000 characters, so no word stands in it more often. */
const FREQUENCIES = 2 ** 14

/** What MiniSearch uses of a Map from document to frequency. */
export class Postings {
  /** Document × FREQUENCIES + frequency, ascending. */
  readonly #packed: number[]

  constructor(packed: number[] = []) {
    this.#packed = packed
  }

  get size(): number {
    return this.#packed.length
  }

  get(document: number): number | undefined {
    const at = this.#find(document)
    const packed = this.#packed[at]
    return packed !== undefined && documentOf(packed) === document ? packed % FREQUENCIES : undefined
  }

  set(document: number, frequency: number): this {
    const packed = document * FREQUENCIES + Math.min(frequency, FREQUENCIES - 1)
    const at = this.#find(document)
    const there = this.#packed[at]
    if (there === undefined) this.#packed.push(packed)
    else if (documentOf(there) === document) this.#packed[at] = packed
    else this.#packed.splice(at, 0, packed)
    return this
  }

  delete(document: number): boolean {
    const at = this.#find(document)
    const packed = this.#packed[at]
    if (packed === undefined || documentOf(packed) !== document) return false
    this.#packed.splice(at, 1)
    return true
  }

  /** A document may be deleted while it is the one that is told of. */
  *keys(): Generator<number, undefined> {
    for (let at = 0; at < this.#packed.length;) {
      const document = documentOf(this.#packed[at] ?? 0)
      yield document
      if (documentOf(this.#packed[at] ?? -1) === document) at++
    }
  }

  *[Symbol.iterator](): Generator<[number, number], undefined> {
    for (const document of this.keys()) yield [document, this.get(document) ?? 0]
  }

  /** Where the document stands, or would: mostly it is the last one, or one behind. */
  #find(document: number): number {
    const all = this.#packed
    const last = all.length - 1
    const least = document * FREQUENCIES
    if (last < 0 || (all[last] ?? 0) < least) return last + 1
    if (documentOf(all[last] ?? 0) === document) return last
    let [low, high] = [0, last]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((all[middle] ?? 0) < least) low = middle + 1
      else high = middle
    }
    return low
  }
}

const documentOf = (packed: number) => Math.floor(packed / FREQUENCIES)

/** What MiniSearch uses of a Map from field to postings. */
export class Fields {
  /** Of the field that the word was found in first; -1 = it is in none. */
  #field = -1
  #list: number | number[] = 0
  #others: Map<number, number[]> | null = null

  get size(): number {
    return (this.#field < 0 ? 0 : 1) + (this.#others?.size ?? 0)
  }

  /** The word stands in the field of the document once more. Answers whether it did not stand there yet. */
  add(field: number, document: number): boolean {
    if (this.#field < 0 && !this.#others?.has(field)) {
      this.#field = field
      this.#list = document * FREQUENCIES + 1
      return true
    }
    if (field === this.#field && typeof this.#list === 'number' && documentOf(this.#list) === document) {
      this.#list = raised(this.#list)
      return false
    }
    const list = this.#listOf(field) ?? []
    if (field !== this.#field) (this.#others ??= new Map()).set(field, list)
    const last = list.length - 1
    const isNew = last < 0 || documentOf(list[last] ?? 0) !== document
    if (isNew) list.push(document * FREQUENCIES + 1)
    else list[last] = raised(list[last] ?? 0)
    return isNew
  }

  get(field: number): Postings | undefined {
    const list = this.#listOf(field)
    return list && new Postings(list)
  }

  delete(field: number): boolean {
    if (field !== this.#field) return this.#others?.delete(field) ?? false
    this.#field = -1
    return true
  }

  *[Symbol.iterator](): Generator<[number, Postings], undefined> {
    for (const field of [this.#field, ...(this.#others?.keys() ?? [])]) {
      const postings = field < 0 ? undefined : this.get(field)
      if (postings) yield [field, postings]
    }
  }

  #listOf(field: number): number[] | undefined {
    if (field !== this.#field) return this.#others?.get(field)
    if (typeof this.#list === 'number') this.#list = [this.#list]
    return this.#list
  }
}

const raised = (packed: number) => (packed % FREQUENCIES === FREQUENCIES - 1 ? packed : packed + 1)

/** The tree of words, which MiniSearch's types keep to themselves. */
function treeOf(index: object): { fetch(term: string, make: () => Fields): Fields } {
  return Reflect.get(index, '_index') as ReturnType<typeof treeOf>
}

/** Roughly, in bytes: what a word, and a word in a document, take. */
const WORD_BYTES = 1000
const POSTING_BYTES = 12

export class PackedSearch<T> extends MiniSearch<T> {
  /**
   * All words, since finding one by its letters in MiniSearch's tree is most of what adding takes. A word that was taken
   * out of the tree is in no field any more, and looked up anew.
   */
  readonly #words = new Map<string, Fields>()
  #postings = 0

  constructor(options: Options<T>) {
    super(options)
    // An own property goes before MiniSearch's method, which its types do not let a subclass name.
    Object.assign(this, { addTerm: this.#addTerm.bind(this) })
  }

  /** Of the index, but for the documents themselves. What was removed counts until it is vacuumed away. */
  get indexBytes(): number {
    return this.#words.size * WORD_BYTES + this.#postings * POSTING_BYTES
  }

  #addTerm(field: number, document: number, term: string): void {
    let fields = this.#words.get(term)
    if (!fields || fields.size === 0) {
      fields = treeOf(this).fetch(term, () => new Fields())
      this.#words.set(term, fields)
    }
    if (fields.add(field, document)) this.#postings++
  }
}
