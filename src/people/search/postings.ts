// MiniSearch with lists of the places of words that take an eighth of the memory.
//
// MiniSearch keeps a Map of fields for each word, and in it, for each field, a Map from document to frequency. That is some
// sixty bytes an entry and a kilobyte a word, and an index consists of little else: 50,000 ideas took 1.2 GB. Documents are
// numbered in the order they are added, so a list of plain numbers, each combining a document and its frequency, is always
// sorted and takes eight bytes an entry. A word that occurs in only one text, as most do, needs no list.

import MiniSearch, { type Options } from 'minisearch'

/** A text has at most 20,000 characters, and a word at least two with its space, so none occurs more often. */
const FREQUENCIES = 2 ** 14

/** The part of a Map from document to frequency that MiniSearch uses. */
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

  /** The document that was just yielded may be deleted. */
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

  /** The place of the document, or where it would be: mostly the last one, or the one behind. */
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

/** The part of a Map from field to postings that MiniSearch uses. */
export class PostedFields {
  /** The field that the word was found in first; -1 = none. */
  #field = -1
  #list: number | number[] = 0
  #others: Map<number, number[]> | null = null

  get size(): number {
    return (this.#field < 0 ? 0 : 1) + (this.#others?.size ?? 0)
  }

  /** Counts one more occurrence of the word in the field of the document. Answers whether it is the first one there. */
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

/** The tree of words, which MiniSearch's types hide. */
function treeOf(index: object): { fetch(term: string, make: () => PostedFields): PostedFields } {
  return Reflect.get(index, '_index') as ReturnType<typeof treeOf>
}

/** A rough number of bytes for a word, and for a word in a document. */
const WORD_BYTES = 1000
const POSTING_BYTES = 12

export class PackedSearch<T> extends MiniSearch<T> {
  /**
   * All words, since finding a word letter by letter in MiniSearch's tree is most of the cost of adding it. A word that was
   * removed from the tree is in no field, and is then looked up again.
   */
  readonly #words = new Map<string, PostedFields>()
  #postings = 0

  constructor(options: Options<T>) {
    super(options)
    // An own property hides MiniSearch's method, which its types do not let a subclass override.
    Object.assign(this, { addTerm: this.#addTerm.bind(this) })
  }

  /** The bytes of the index without the documents. Removed documents count until they are vacuumed. */
  get indexBytes(): number {
    return this.#words.size * WORD_BYTES + this.#postings * POSTING_BYTES
  }

  #addTerm(field: number, document: number, term: string): void {
    let fields = this.#words.get(term)
    if (!fields || fields.size === 0) {
      fields = treeOf(this).fetch(term, () => new PostedFields())
      this.#words.set(term, fields)
    }
    if (fields.add(field, document)) this.#postings++
  }
}
