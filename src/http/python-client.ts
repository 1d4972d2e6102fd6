// The Python client: one file without dependencies for Python 3.11 and later, generated from the OpenAPI document and thus
// from the schemas that also validate. It is served at /api/client.py.
//
//     room = Chartroom("http://127.0.0.1:3000", token="crm_pat_…")
//     bars = table(room.get_bars(symbol="SPX", exchange="SP", interval="1d")["bars"])
//
// A method is named after the HTTP method and the path, with nouns before an id in the singular: `GET /api/platform/alerts`
// is get_alerts(), `DELETE /api/platform/alerts/{id}` delete_alert(id), and where a name is taken already, `_by_id` is
// added: patch_auth_user() is the caller, patch_auth_user_by_id(id) anybody. Arguments are named as on the wire.

import { type Document, type Json, type Operation } from './client-text.ts'
import runtime from './python-runtime.py' with { type: 'text' }

/** The client's Python source for `document`. */
export function pythonClientText(document: object): string {
  const { info, paths, components } = document as Document
  const types = new PythonTypes()
  for (const [name, schema] of Object.entries(components.schemas))
    if (name !== 'Error') types.declare(`${name}Json`, schema)
  const names = new Set<string>()
  const methods = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const short = methodName(method, path)
      const name = names.has(short) ? `${short}_by_id` : short
      names.add(name)
      return methodText(name, `${method.toUpperCase()} ${path}`, operation, types)
    }),
  )
  return [
    head(info.version),
    runtime.trimEnd(),
    ...types.declarations,
    `class Chartroom(_Caller):\n    """Chartroom's API: one method for each operation."""`,
    ...methods,
  ]
    .join('\n\n')
    .concat('\n')
}

const head = (version: string) => `# Chartroom ${version}: a client of its HTTP API for Python 3.11 and later.
# Written by the server; do not edit.
#
#     from chartroom import Chartroom, table
#
#     room = Chartroom("http://127.0.0.1:3000", token="crm_pat_…")
#     bars = table(room.get_bars(symbol="SPX", exchange="SP", interval="1d")["bars"])
#     run = room.post_backtests_preview(name="Trend", symbol="SPX", exchange="SP", interval="1d", bars=5000, source=…)
#     trades = table(run["result"]["report"]["trades"])
#
# table() makes a DataFrame of a list of objects if pandas is installed, and a dict of columns if not.

from __future__ import annotations

import array
import http.client
import importlib
import itertools
import json
import os
import re
import sys
import threading
import time
import urllib.parse
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NotRequired, Self, TypeAlias, TypedDict
`

// ——— the operations ———

interface Argument {
  /** As on the wire. */
  readonly name: string
  readonly type: string
  readonly required: boolean
}

function methodText(name: string, called: string, operation: Operation, types: PythonTypes): string {
  const of = (place: string) =>
    operation.parameters
      .filter((parameter) => parameter.in === place)
      .map((one) => ({
        ...one,
        type: queryType(types.typeOf(one.schema, `${pascal(name)}${pascal(one.name)}`)),
      }))
  const inPath = of('path')
  const inQuery = of('query')
  const body = bodyOf(operation, pascal(name), types)
  const isStream = /\/(events|stream)$/.test(called)
  const answer = operation.responses[200].content?.['application/json']?.schema
  const answerType = answer ? types.typeOf(answer, `${pascal(name)}Answer`) : 'str | bytes'
  const prefer = operation.parameters.some((one) => one.name === 'Prefer')
  const headers = [
    ...(prefer ? ['prefer'] : []),
    ...(operation.parameters.some((one) => one.name === 'Idempotency-Key') ? ['idempotency_key'] : []),
  ]
  const named = [...body.fields, ...inQuery]
  const parameters = [
    'self',
    ...inPath.map((one) => `${identifier(one.name)}: ${one.type}`),
    ...(body.whole ? [`body: ${body.whole}`] : []),
    ...(named.length + headers.length > 0 ? ['*'] : []),
    ...named.filter((one) => one.required).map((one) => `${identifier(one.name)}: ${one.type}`),
    ...named
      .filter((one) => !one.required)
      .map((one) => `${identifier(one.name)}: ${one.type} | Unset = UNSET`),
    ...headers.map((one) => `${one}: str | Unset = UNSET`),
  ]
  const given = (list: readonly Argument[]) =>
    `_given(${list.map((one) => `${identifier(one.name)}=${identifier(one.name)}`).join(', ')})`
  const passed = [
    JSON.stringify(called),
    ...(inPath.length > 0 ? [`path=${given(inPath)}`] : []),
    ...(inQuery.length > 0 ? [`query=${given(inQuery)}`] : []),
    ...(body.whole ? ['body=body'] : body.fields.length > 0 ? [`body=${given(body.fields)}`] : []),
    ...(headers.length > 0 ? [`headers=_headers(${headers.map((one) => `${one}=${one}`).join(', ')})`] : []),
  ]
  const summary = (operation.summary ?? '').replaceAll('"""', "'''")
  return [
    `    def ${name}(\n        ${parameters.join(',\n        ')},\n    ) -> ${isStream ? 'Iterator[Event]' : answerType}:`,
    `        """${summary}\n\n        \`${called}\`\n        """`,
    `        return self.${isStream ? 'events' : 'call'}(\n            ${passed.join(',\n            ')},\n        )`,
  ].join('\n')
}

/** A body's fields, or the type of a body that is not an object with fields of its own. */
function bodyOf(operation: Operation, name: string, types: PythonTypes) {
  const content = operation.requestBody?.content
  if (!content) return { fields: [], whole: null }
  // A file is given whole.
  const schema: Json = content['application/json']?.schema ?? {}
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>)
  if (properties.length === 0) return { fields: [], whole: 'Any' }
  const required = new Set((schema['required'] ?? []) as string[])
  const fields = properties.map(([field, type]) => ({
    name: field,
    type: types.typeOf(type, `${name}${pascal(field)}`),
    required: required.has(field),
  }))
  return { fields, whole: null }
}

/** `get_alert` of `get /api/platform/alerts/{id}`. */
function methodName(method: string, path: string): string {
  const parts = path.split('/').filter((part) => part && part !== 'api' && part !== 'platform')
  const words = parts.flatMap((part, i) => {
    if (part.startsWith('{')) return []
    const isOne = parts[i + 1]?.startsWith('{') ?? false
    return [isOne ? singular(part) : part]
  })
  return [method, ...words].join('_').replace(/[^\w]/g, '_')
}

const singular = (noun: string) => noun.replace(/ies$/, 'y').replace(/(?<=x)es$|s$/, '')

/** A query parameter may be given as a number or a truth value instead of a text. */
const queryType = (type: string) => (type === 'str' ? 'str | int | float' : type)

const pascal = (name: string) =>
  name.replace(/(?:^|[^A-Za-z0-9]+)(\w)/g, (_, letter: string) => letter.toUpperCase())

// ——— the types ———

/** Types of JSON values; objects become classes with names of their own, since Python has no nameless ones. */
class PythonTypes {
  readonly declarations: string[] = []

  declare(name: string, schema: Json): void {
    const type = this.typeOf(schema, name)
    if (type !== name) this.declarations.push(`${name}: TypeAlias = ${JSON.stringify(type)}`)
  }

  /** The type's expression. An object without a name of its own is declared as `name`. */
  typeOf(schema: Json, name: string): string {
    const reference = schema['$ref']
    if (typeof reference === 'string') return `${reference.split('/').at(-1)}Json`
    if ('const' in schema) return literal([schema['const']])
    const values = schema['enum'] as unknown[] | undefined
    if (values) return literal(values)
    const variants = schema['anyOf'] as Json[] | undefined
    if (variants)
      return [...new Set(variants.map((one, i) => this.typeOf(one, `${name}${i + 1}`)))].join(' | ')
    switch (schema['type']) {
      case 'string':
        return 'str'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      case 'number':
        return 'float'
      case 'integer':
        return 'int'
      case 'array':
        return `Sequence[${this.typeOf((schema['items'] ?? {}) as Json, `${name}Item`)}]`
      case 'object':
        return this.#object(schema, name)
      default:
        return 'Any'
    }
  }

  #object(schema: Json, name: string): string {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>)
    const record = Object.values((schema['patternProperties'] ?? {}) as Record<string, Json>)[0]
    if (properties.length === 0)
      return `Mapping[str, ${record ? this.typeOf(record, `${name}Value`) : 'Any'}]`
    const required = new Set((schema['required'] ?? []) as string[])
    const fields = properties.map(([field, value]) => {
      const type = this.typeOf(value, `${name}${pascal(field)}`)
      return [field, required.has(field) ? type : `NotRequired[${type}]`] as const
    })
    this.declarations.push(
      fields.every(([field]) => identifier(field) === field)
        ? `class ${name}(TypedDict):\n${fields.map(([field, type]) => `    ${field}: ${type}`).join('\n')}`
        : `${name} = TypedDict(\n    ${JSON.stringify(name)},\n    {${fields.map(([field, type]) => `${JSON.stringify(field)}: ${JSON.stringify(type)}`).join(', ')}},\n)`,
    )
    return name
  }
}

function literal(values: readonly unknown[]): string {
  const texts = values.map((value) =>
    value === true ? 'True' : value === false ? 'False' : value === null ? 'None' : JSON.stringify(value),
  )
  return `Literal[${texts.join(', ')}]`
}

/** A name that Python accepts: its keywords get an underscore at the end. */
function identifier(name: string): string {
  const word = name.replace(/[^\w]/g, '_')
  return PYTHONS_WORDS.has(word) ? `${word}_` : word
}

const PYTHONS_WORDS: ReadonlySet<string> = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if
  import in is lambda nonlocal not or pass raise return try while with yield self`.split(/\s+/),
)
