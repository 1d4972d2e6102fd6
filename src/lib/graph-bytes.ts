// Writes a graph of objects as bytes and reads it back: the state of a run, kept between two bars or handed to
// another thread.
//
// `structuredClone` forgets classes, and JSON forgets NaN, -0 and which two fields named one object. Here an object
// is written once, where it is first met, and by its number from then on. Its contents follow later, in the order in
// which the objects were met, so that a chain of a hundred thousand objects needs no deep stack. Both sides already
// have whatever is not state (functions, the run's context), and refer to it by number.
//
//     const writer = new GraphWriter()
//     writer.know([context])
//     writer.write({ a: one, b: one, context })
//     const reader = new GraphReader(writer.bytes())
//     reader.know([context])
//     const { a, b } = reader.read()     // a === b
//
// An object is read into the existing object of its class in the same place. A run that was just opened already has
// all its frames and call sites, so no list of their classes is needed.

import { assert } from './assert.ts'

/**
 * An object that packs its own state, and unpacks it into an object that no constructor has touched. Lists and
 * objects among the parts are still empty at that moment; typed arrays are filled.
 */
interface Packed {
  pack(): readonly unknown[]
  unpack(parts: readonly unknown[]): void
}

type Class = abstract new (...args: never[]) => object

const TAG = {
  undefined: 0,
  null: 1,
  true: 2,
  false: 3,
  integer: 4,
  number: 5,
  text: 6,
  textAgain: 7,
  known: 8,
  again: 9,
  list: 10,
  numbers: 11,
  map: 12,
  set: 13,
  object: 14,
  instance: 15,
  packed: 16,
  kept: 17,
  float64: 18,
  int32: 19,
  uint8: 20,
} as const

/**
 * The field names of a plain object or of an instance, written once. `number` is -1 for plain objects and for kinds
 * without fields.
 */
interface Shape {
  readonly class: Class | null
  readonly keys: readonly string[]
  readonly number: number
}

export class GraphWriter {
  #bytes = new Uint8Array(4096)
  #view = new DataView(this.#bytes.buffer)
  #at = 0
  readonly #known = new Map<unknown, number>()
  readonly #numbers = new Map<object, number>()
  readonly #texts = new Map<string, number>()
  readonly #shapes = new Map<unknown, Shape[]>()
  #shapeCount = 0
  readonly #queue: object[] = []

  /**
   * Registers what both sides have in the same order and therefore write by number: functions, classes, and objects
   * that are not state.
   */
  know(things: readonly unknown[]): void {
    for (const thing of things) if (!this.#known.has(thing)) this.#known.set(thing, this.#known.size)
  }

  /** Writes a value and everything it leads to. Values written one after the other may share objects. */
  write(value: unknown): void {
    this.#value(value)
    for (let i = 0; i < this.#queue.length; i++) this.#contents(this.#queue[i]!)
    this.#queue.length = 0
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at)
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case 'number':
        if ((value | 0) === value && !Object.is(value, -0)) {
          this.#reserve(5)
          this.#bytes[this.#at] = TAG.integer
          this.#view.setInt32(this.#at + 1, value)
          this.#at += 5
        } else {
          this.#reserve(9)
          this.#bytes[this.#at] = TAG.number
          this.#view.setFloat64(this.#at + 1, value)
          this.#at += 9
        }
        return
      case 'string':
        return this.#text(value)
      case 'boolean':
        return this.#tag(value ? TAG.true : TAG.false)
      case 'undefined':
        return this.#tag(TAG.undefined)
      default:
        if (value === null) return this.#tag(TAG.null)
        return this.#object(value as object)
    }
  }

  #object(value: object): void {
    const known = this.#known.get(value)
    if (known !== undefined) return this.#counted(TAG.known, known)
    assert(typeof value === 'object', `a ${typeof value} is no state`)
    const again = this.#numbers.get(value)
    if (again !== undefined) return this.#counted(TAG.again, again)
    this.#numbers.set(value, this.#numbers.size)
    if (value instanceof Float64Array) return this.#column(TAG.float64, value)
    if (value instanceof Int32Array) return this.#column(TAG.int32, value)
    if (value instanceof Uint8Array) return this.#column(TAG.uint8, value)
    // Its state is not ours to keep, so the reader leaves the existing object alone.
    if ('isKept' in value) return this.#tag(TAG.kept)
    if (Array.isArray(value)) {
      // Most lists in scripts hold numbers. Written as a column, a hundred thousand of them are one copy.
      const numbers = numbersOf(value)
      this.#counted(numbers ? TAG.numbers : TAG.list, value.length)
      if (numbers) return this.#raw(numbers)
    } else if (value instanceof Map) this.#counted(TAG.map, value.size)
    else if (value instanceof Set) this.#counted(TAG.set, value.size)
    else this.#fields(value)
    this.#queue.push(value)
  }

  #fields(value: object): void {
    const { constructor } = value
    const isPlain = constructor === Object
    const isPacked = 'pack' in value
    const keys = isPacked ? [] : Object.keys(value)
    const shapes = this.#shapes.get(constructor)
    const shape = shapes?.find((one) => sameKeys(one.keys, keys))
    this.#tag(isPlain ? TAG.object : isPacked ? TAG.packed : TAG.instance)
    if (shape) return this.#u32(shape.number)
    const made = { class: null, keys, number: this.#shapeCount++ }
    if (shapes) shapes.push(made)
    else this.#shapes.set(constructor, [made])
    this.#u32(made.number)
    if (!isPlain) {
      const known = this.#known.get(constructor)
      if (known === undefined) this.#text(constructor.name)
      else this.#counted(TAG.known, known)
    }
    this.#u32(keys.length)
    for (const key of keys) this.#text(key)
  }

  #contents(value: object): void {
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) this.#value(value[i])
    else if (value instanceof Map)
      for (const [key, item] of value) {
        this.#value(key)
        this.#value(item)
      }
    else if (value instanceof Set) for (const item of value) this.#value(item)
    else if ('pack' in value) {
      const parts = (value as Packed).pack()
      this.#u32(parts.length)
      for (const part of parts) this.#value(part)
    } else for (const key of Object.keys(value)) this.#value((value as Record<string, unknown>)[key])
  }

  #column(tag: number, column: Float64Array | Int32Array | Uint8Array): void {
    this.#counted(tag, column.length)
    this.#raw(column)
  }

  #raw(column: Float64Array | Int32Array | Uint8Array): void {
    this.#reserve(column.byteLength)
    this.#bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), this.#at)
    this.#at += column.byteLength
  }

  #text(text: string): void {
    const again = this.#texts.get(text)
    if (again !== undefined) return this.#counted(TAG.textAgain, again)
    this.#texts.set(text, this.#texts.size)
    this.#counted(TAG.text, text.length)
    this.#reserve(2 * text.length)
    for (let i = 0; i < text.length; i++) this.#view.setUint16(this.#at + 2 * i, text.charCodeAt(i))
    this.#at += 2 * text.length
  }

  #tag(tag: number): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = tag
  }

  #counted(tag: number, count: number): void {
    this.#tag(tag)
    this.#u32(count)
  }

  #u32(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.#at, value)
    this.#at += 4
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#at + size, this.#bytes.length * 2))
    grown.set(this.#bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}

/**
 * An object whose contents follow, and the object that was in its place before, which holds the instances to read
 * into.
 */
interface OpenObject {
  readonly object: object
  readonly there: Readonly<Record<string | number, unknown>>
  readonly count: number
  readonly keys: readonly string[]
}

export class GraphReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #known = new Set<unknown>()
  #knownList: readonly unknown[] = []
  readonly #make: (of: Class) => object
  readonly #objects: object[] = []
  readonly #texts: string[] = []
  readonly #shapes: Shape[] = []
  readonly #reused = new Set<object>()
  readonly #queue: OpenObject[] = []
  #at = 0

  /** `make` creates an instance to be filled where none exists yet. */
  constructor(bytes: Uint8Array, make = bare) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#make = make
  }

  /** Takes the same values in the same order as the writer's `know`. */
  know(things: readonly unknown[]): void {
    for (const thing of things) this.#known.add(thing)
    this.#knownList = [...this.#known]
  }

  /** The next value that was written. With `existing`, it is read into that object if the class is the same. */
  read(existing?: unknown): unknown {
    const value = this.#value(existing)
    for (let i = 0; i < this.#queue.length; i++) this.#contents(this.#queue[i]!)
    this.#queue.length = 0
    return value
  }

  #value(existing?: unknown): unknown {
    const tag = this.#bytes[this.#at++]
    switch (tag) {
      case TAG.undefined:
        return undefined
      case TAG.null:
        return null
      case TAG.true:
        return true
      case TAG.false:
        return false
      case TAG.integer:
        this.#at += 4
        return this.#view.getInt32(this.#at - 4)
      case TAG.number:
        this.#at += 8
        return this.#view.getFloat64(this.#at - 8)
      case TAG.text:
      case TAG.textAgain:
        return this.#text(tag)
      case TAG.known:
        return this.#knownList[this.#u32()]
      case TAG.again:
        return this.#objects[this.#u32()]
      case TAG.kept:
        return this.#met(existing as object)
      case TAG.float64:
        return this.#met(new Float64Array(this.#raw(8)))
      case TAG.int32:
        return this.#met(new Int32Array(this.#raw(4)))
      case TAG.uint8:
        return this.#met(new Uint8Array(this.#raw(1)))
      case TAG.numbers:
        return this.#met(Array.from(new Float64Array(this.#raw(8))))
      case TAG.list:
        return this.#later([], existing, this.#u32())
      case TAG.map:
        return this.#later(new Map(), null, this.#u32())
      case TAG.set:
        return this.#later(new Set(), null, this.#u32())
      case TAG.object:
      case TAG.instance:
      case TAG.packed:
        return this.#fields(tag, existing)
      default:
        throw new Error(`assertion failed: no value begins with ${tag}`)
    }
  }

  #fields(tag: number, existing: unknown): object {
    const shape = this.#shape(tag, existing)
    if (tag === TAG.object) return this.#later({}, existing, 0, shape.keys)
    const wanted = shape.class
    assert(wanted, 'an instance has a class')
    const isThere =
      typeof existing === 'object' &&
      existing !== null &&
      existing.constructor === wanted &&
      !this.#reused.has(existing)
    const object = isThere ? existing : this.#make(wanted)
    this.#reused.add(object)
    if (isThere)
      for (const key of Object.keys(object))
        if (!shape.keys.includes(key)) Reflect.deleteProperty(object, key)
    return this.#later(object, object, 0, shape.keys)
  }

  #shape(tag: number, existing: unknown): Shape {
    const number = this.#u32()
    const known = this.#shapes[number]
    if (known) return known
    let of: Class | null = null
    if (tag !== TAG.object) {
      const named = this.#value()
      if (typeof named === 'string') {
        of = (existing as object | undefined)?.constructor as Class
        assert(of?.name === named, `a ${named} stands where one is read`)
      } else of = named as Class
    }
    const keys = Array.from({ length: this.#u32() }, () => this.#value() as string)
    const shape = { class: of, keys, number }
    this.#shapes[number] = shape
    return shape
  }

  #contents({ object, there, count, keys }: OpenObject): void {
    if (Array.isArray(object)) for (let i = 0; i < count; i++) object.push(this.#value(there[i]))
    else if (object instanceof Map)
      for (let i = 0; i < count; i++) {
        const key = this.#value()
        object.set(key, this.#value())
      }
    else if (object instanceof Set) for (let i = 0; i < count; i++) object.add(this.#value())
    else if ('unpack' in object)
      (object as Packed).unpack(Array.from({ length: this.#u32() }, () => this.#value()))
    else for (const key of keys) (object as Record<string, unknown>)[key] = this.#value(there[key])
  }

  #later<Made extends object>(
    object: Made,
    there: unknown,
    count: number,
    keys: readonly string[] = [],
  ): Made {
    const isObject = typeof there === 'object' && there !== null
    this.#queue.push({ object, there: isObject ? (there as OpenObject['there']) : {}, count, keys })
    return this.#met(object)
  }

  #met<Made extends object>(object: Made): Made {
    this.#objects.push(object)
    return object
  }

  #raw(size: number): ArrayBuffer {
    const length = this.#u32() * size
    this.#at += length
    return this.#bytes.slice(this.#at - length, this.#at).buffer
  }

  #text(tag: number): string {
    if (tag === TAG.textAgain) return this.#texts[this.#u32()] ?? ''
    const length = this.#u32()
    const codes = new Uint16Array(length)
    for (let i = 0; i < length; i++) codes[i] = this.#view.getUint16(this.#at + 2 * i)
    this.#at += 2 * length
    let text = ''
    for (let i = 0; i < length; i += 4096) text += String.fromCharCode(...codes.subarray(i, i + 4096))
    this.#texts.push(text)
    return text
  }

  #u32(): number {
    this.#at += 4
    return this.#view.getUint32(this.#at - 4)
  }
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}

/** A list as a column if it holds nothing but numbers. */
function numbersOf(list: readonly unknown[]): Float64Array | null {
  const numbers = new Float64Array(list.length)
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    if (typeof item !== 'number') return null
    numbers[i] = item
  }
  return list.length > 0 ? numbers : null
}

function bare(of: Class): object {
  return Object.create(of.prototype as object) as object
}
