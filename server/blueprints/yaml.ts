import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Alias,
  type Document,
  type ErrorCode,
  type Node as YamlNode,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { AppError } from '../errors.ts'
import type { Faults, Place } from './faults.ts'
import type { MappingNode, Node } from './nodes.ts'

/** The same as a request body may have. */
export const MAX_YAML_BYTES = 2 * 1024 * 1024
/** With every alias followed: a project of a thousand services has some 50,000. */
const MAX_NODES = 200_000
/** The same of text: an alias to a long one costs as much each time. */
const MAX_CHARACTERS = 4 * 1024 * 1024
/** A project needs eight. */
const MAX_DEPTH = 64

/** Lines, commas, brackets and the like: that many take the parser half a second, which nothing else runs in. */
const MAX_INDICATORS = 100_000

/** The types that YAML's core schema has a tag for (YAML 1.2.2 section 10.3). */
const CORE_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/

/**
 * Reads a YAML 1.2 file (core schema, merge keys) with the place of each value, and adds what is wrong with its form.
 * Throws `payload_too_large`, or `invalid_request` with every fault where it cannot be told what the rest means.
 */
export function readYaml(text: string, faults: Faults): Node {
  if (Buffer.byteLength(text) > MAX_YAML_BYTES)
    throw new AppError(
      'payload_too_large',
      `the file is larger than the ${MAX_YAML_BYTES / 1024 / 1024} MiB allowed here`,
    )
  if (indicatorsOf(text) > MAX_INDICATORS) faults.add(TOP, `has more than ${MAX_INDICATORS} lines and values`)
  faults.refuse()
  const lines = new LineCounter()
  return new Reading(parse(text, lines, faults), text.includes('*'), lines, faults).root()
}

function parse(text: string, lines: LineCounter, faults: Faults): Document {
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      // Looked at below, with places and in time that grows with the map and not with its square.
      uniqueKeys: false,
      prettyErrors: false,
      // Only `silent` would pass over a second document.
      logLevel: 'error',
      lineCounter: lines,
    })
    const found = [...document.errors, ...document.warnings]
    // Where the stack ends says nothing of the file.
    if (found.some(({ message }) => STACK_ENDED.test(message))) throw new RangeError(TOO_DEEP)
    for (const { name, pos, code, message } of found)
      // Tags that are not known are told with the paths of their values.
      if (name !== 'YAMLWarning' || code !== 'TAG_RESOLVE_FAILED')
        faults.add(placeAt(lines, pos[0], ''), wordsOf(code, message))
    if (found.some(({ code }) => !HARMLESS.has(code))) faults.refuse()
    return document
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    faults.add(TOP, TOO_DEEP)
    faults.refuse()
    throw error
  }
}

/** What is wrong without making another thing of the rest. */
const HARMLESS = new Set<ErrorCode>(['MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED'])

/** What the parser found, in words for who writes a blueprint. */
function wordsOf(code: ErrorCode, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'the file holds several documents, and a blueprint is one'
  return message.split('\n')[0]!
}

/** How many characters may begin a value, counted without parsing. */
function indicatorsOf(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (!INDICATORS.has(character)) continue
    const next = text[at + 1]
    if (!BEFORE_BLANK.has(character) || next === ' ' || next === '\t') count++
  }
  return count
}

const INDICATORS = new Set('\n\r,[]{}-?:')
/** These count in block style only before a blank; before the end of a line that counts. */
const BEFORE_BLANK = new Set('-?:')

/** Where what is wrong with a file as a whole is told. */
export const TOP: Place = { line: 1, column: 1, path: '' }
/** What the parser makes of it itself. */
const STACK_ENDED = /call stack/
const TOO_DEEP = `is nested more than ${MAX_DEPTH} deep`

class Reading {
  readonly #document: Document
  readonly #lines: LineCounter
  readonly #faults: Faults
  /** What each alias means: the last node before it that bears the anchor. */
  readonly #targets = new Map<Alias, YamlNode>()
  /** Those that are being followed: an alias to one of them goes round in a circle. */
  readonly #following = new Set<YamlNode>()
  #nodes = 0
  #characters = 0

  constructor(document: Document, hasAliases: boolean, lines: LineCounter, faults: Faults) {
    this.#document = document
    this.#lines = lines
    this.#faults = faults
    const anchored = new Map<string, YamlNode>()
    if (hasAliases)
      visit(document, {
        Alias: (_, alias) => {
          const target = anchored.get(alias.source)
          if (target) this.#targets.set(alias, target)
        },
        Value: (_, node) => {
          if (node.anchor) anchored.set(node.anchor, node)
        },
      })
  }

  root(): Node {
    const { contents } = this.#document
    const place = TOP
    if (contents === null || (isScalar(contents) && contents.value === null)) {
      this.#faults.add(place, 'the file is empty')
      return { kind: 'mapping', place, entries: new Map() }
    }
    return this.#read(contents, place, 0)
  }

  #read(node: YamlNode | null, place: Place, depth: number): Node {
    this.#count(place, depth)
    if (isAlias(node)) return this.#follow(node, place, depth, (target) => this.#read(target, place, depth))
    const isTagged = node?.tag !== undefined && !CORE_TAG.test(node.tag)
    if (isTagged) this.#faults.add(place, `has the tag ${node.tag}: only plain values are read`)
    if (isMap(node)) return this.#readMap(node, place, depth)
    if (isSeq(node)) {
      const items = (node.items as (YamlNode | Pair | null)[]).map((item, index) => {
        const path = `${place.path}[${index}]`
        const value = item as YamlNode | null
        return this.#read(
          value,
          value?.range ? placeAt(this.#lines, value.range[0], path) : { ...place, path },
          depth + 1,
        )
      })
      return { kind: 'list', place, items }
    }
    this.#weigh(node, place)
    return isTagged ? { ...NOTHING, place } : readScalar(node, place)
  }

  #readMap(map: YAMLMap, place: Place, depth: number): MappingNode {
    const entries = new Map<string, Node>()
    const own = new Set<string>()
    for (const { key, value } of map.items as Pair<YamlNode | null, YamlNode | null>[]) {
      const named = isAlias(key) ? this.#targets.get(key) : key
      const keyPlace = key?.range ? placeAt(this.#lines, key.range[0], place.path) : place
      if (!isScalar(named)) {
        this.#faults.add(keyPlace, 'has a key that is no plain text')
        continue
      }
      const name = textOf(named)
      const at = { ...keyPlace, path: place.path === '' ? name : `${place.path}.${name}` }
      if (name === '<<' && named.type === 'PLAIN') {
        this.#merge(value, place, at, depth, entries, own)
        continue
      }
      if (own.has(name)) {
        this.#faults.add(at, 'stands twice in one mapping')
        continue
      }
      own.add(name)
      entries.set(name, this.#read(value, at, depth + 1))
    }
    return { kind: 'mapping', place, entries }
  }

  /** Merge keys (yaml.org/type/merge): what stands in the map itself wins, then the first of several sources. */
  #merge(
    value: YamlNode | null,
    place: Place,
    at: Place,
    depth: number,
    entries: Map<string, Node>,
    own: ReadonlySet<string>,
  ): void {
    if (isAlias(value)) {
      this.#follow(value, at, depth, (target) => {
        this.#merge(target, place, at, depth + 1, entries, own)
        return NOTHING
      })
    } else if (isSeq(value)) {
      for (const source of value.items as YamlNode[]) this.#merge(source, place, at, depth + 1, entries, own)
    } else if (isMap(value)) {
      this.#count(at, depth)
      for (const [key, node] of this.#readMap(value, place, depth).entries)
        if (!own.has(key) && !entries.has(key)) entries.set(key, node)
    } else this.#faults.add(at, 'must be a mapping, or a list of mappings')
  }

  #follow(alias: Alias, place: Place, depth: number, read: (target: YamlNode) => Node): Node {
    this.#count(place, depth)
    const target = this.#targets.get(alias)
    if (!target) {
      this.#faults.add(place, `there is no anchor &${alias.source} before *${alias.source}`)
      return { ...NOTHING, place }
    }
    if (this.#following.has(target)) {
      this.#faults.add(place, `*${alias.source} goes round in a circle`)
      return { ...NOTHING, place }
    }
    this.#following.add(target)
    const node = read(target)
    this.#following.delete(target)
    return node
  }

  #weigh(scalar: Scalar | null, place: Place): void {
    this.#characters += scalar === null ? 0 : textOf(scalar).length
    if (this.#characters <= MAX_CHARACTERS) return
    this.#faults.add(
      place,
      `the file has more than ${MAX_CHARACTERS / 1024 ** 2} million characters with its aliases followed`,
    )
    this.#faults.refuse()
  }

  #count(place: Place, depth: number): void {
    this.#nodes++
    if (depth <= MAX_DEPTH && this.#nodes <= MAX_NODES) return
    this.#faults.add(
      place,
      depth > MAX_DEPTH ? TOO_DEEP : `the file has more than ${MAX_NODES} values with its aliases followed`,
    )
    this.#faults.refuse()
  }
}

const NOTHING: Node = { kind: 'scalar', place: TOP, value: null, text: '' }

function readScalar(scalar: Scalar | null, place: Place): Node {
  if (scalar === null) return { ...NOTHING, place }
  const { value } = scalar
  const isKnown = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return { kind: 'scalar', place, value: isKnown ? value : null, text: textOf(scalar) }
}

/** A number, a boolean or null as it is written: `3.10` is no 3.1. */
function textOf({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? '')
}

function placeAt(lines: LineCounter, offset: number, path: string): Place {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col), path }
}
