// map.*: values by key, in the order their keys were put in.

import { collectionIsNa } from '../messages/failing.ts'
import { PineArray, PineMap } from '../runtime/collections.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { naLike } from './array.ts'
import { fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

type Any = PineMap | null

function absent(name: string): never {
  throw collectionIsNa(name, 'map')
}

export const MAP: readonly BuiltinEntry[] = [
  // The parameters are never written: left out, they arrive as na of the two types, which the map then knows.
  fn('map.new', 'A new map.', '(K key_na = na, V value_na = na) map<K, V>', {
    // A pair is two elements.
    fn: (runtime: Runtime, _key: unknown, value: unknown) => new PineMap(new Map(), value, runtime.budget),
    runtime: true,
  }),
  fn('map.size', 'How many pairs there are.', '(map<K, V> id) int', {
    fn: (id: Any) => (id ?? absent('map.size')).entries.size,
    reads: true,
  }),
  fn('map.get', 'The value of a key; na if there is none.', '(map<K, V> id, K key) V', {
    fn: (id: Any, key: unknown) => (id ?? absent('map.get')).get(key),
    reads: true,
  }),
  fn('map.put', 'Sets the value of a key and answers the one before.', '(map<K, V> id, K key, V value) V', {
    fn: (id: Any, key: unknown, value: unknown) => (id ?? absent('map.put')).put(key, value),
  }),
  fn('map.remove', 'Takes a pair out and answers its value.', '(map<K, V> id, K key) V', {
    fn: (id: Any, key: unknown) => (id ?? absent('map.remove')).remove(key),
  }),
  fn('map.contains', 'True if there is such a key.', '(map<K, V> id, K key) bool', {
    fn: (id: Any, key: unknown) => (id ?? absent('map.contains')).entries.has(key),
    reads: true,
  }),
  fn('map.clear', 'Takes all pairs out.', '(map<K, V> id) void', {
    fn: (id: Any) => (id ?? absent('map.clear')).entries.clear(),
  }),
  fn('map.put_all', 'Puts all pairs of another map in.', '(map<K, V> id, map<K, V> id2) void', {
    fn: (id: Any, other: Any) => {
      const map = id ?? absent('map.put_all')
      for (const [key, value] of (other ?? absent('map.put_all')).entries) map.put(key, value)
    },
  }),
  fn('map.copy', 'A copy; objects in it are shared.', '(map<K, V> id) map<K, V>', {
    fn: (id: Any) => {
      const map = id ?? absent('map.copy')
      return new PineMap(new Map(map.entries), map.na, map.budget)
    },
  }),
  fn('map.keys', 'The keys, in the order they were put in.', '(map<K, V> id) array<K>', {
    fn: (id: Any) => {
      const map = id ?? absent('map.keys')
      const keys = [...map.entries.keys()]
      return new PineArray<unknown>(keys, naLike(keys[0]), map.budget)
    },
  }),
  fn('map.values', 'The values, in the order of their keys.', '(map<K, V> id) array<V>', {
    fn: (id: Any) => {
      const map = id ?? absent('map.values')
      return new PineArray<unknown>([...map.entries.values()], map.na, map.budget)
    },
  }),
]
