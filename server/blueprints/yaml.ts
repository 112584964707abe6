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

/** The same limit as for a request body. */
export const MAX_YAML_BYTES = 2 * 1024 * 1024
/** Max values, with every alias followed: a project of a thousand services has about 50,000. */
const MAX_NODES = 200_000
/** Max characters, with every alias followed: each alias to a long text costs as much as the text. */
const MAX_CHARACTERS = 4 * 1024 * 1024
/** Max levels of nesting; a project needs eight. */
const MAX_DEPTH = 64

/** Max lines, commas, brackets and the like: this many take the parser half a second, during which nothing else runs. */
const MAX_INDICATORS = 100_000

/** The types that YAML's core schema has a tag for (YAML 1.2.2 section 10.3). */
const CORE_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/

/**
 * Reads a YAML 1.2 file (core schema, merge keys) with the place of each value, and adds faults in its form. Throws
 * `payload_too_large`, or `invalid_request` with every fault when the rest of the file cannot be interpreted.
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
      // Checked below, with places and in linear instead of quadratic time.
      uniqueKeys: false,
      prettyErrors: false,
      // Only `silent` would ignore a second document.
      logLevel: 'error',
      lineCounter: lines,
    })
    const found = [...document.errors, ...document.warnings]
    // Where the stack overflowed says nothing about the file.
    if (found.some(({ message }) => STACK_OVERFLOW.test(message))) throw new RangeError(TOO_DEEP)
    for (const { name, pos, code, message } of found)
      // Unknown tags are reported below, with the paths of their values.
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

/** Errors that do not change how the rest of the file is read. */
const HARMLESS = new Set<ErrorCode>(['MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED'])

/** The parser's message, in words for the author of a blueprint. */
function wordsOf(code: ErrorCode, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'the file contains several documents, but a blueprint is only one'
  return message.split('\n')[0]!
}

/** The number of characters that may begin a value, counted without parsing. */
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
/** In block style these count only before a blank; before the end of a line, the line break counts. */
const BEFORE_BLANK = new Set('-?:')

/** The place of faults of the whole file. */
export const TOP: Place = { line: 1, column: 1, path: '' }
/** In the parser's own message about a stack overflow. */
const STACK_OVERFLOW = /call stack/
const TOO_DEEP = `is nested more than ${MAX_DEPTH} deep`

class Reading {
  readonly #document: Document
  readonly #lines: LineCounter
  readonly #faults: Faults
  /** The target of each alias: the last node before it that has the anchor. */
  readonly #targets = new Map<Alias, YamlNode>()
  /** Targets that are being followed: an alias to one of them is circular. */
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
    if (isTagged) this.#faults.add(place, `has the tag ${node.tag}: only plain values are allowed`)
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
        this.#faults.add(keyPlace, 'has a key that is not plain text')
        continue
      }
      const name = textOf(named)
      const at = { ...keyPlace, path: place.path === '' ? name : `${place.path}.${name}` }
      if (name === '<<' && named.type === 'PLAIN') {
        this.#merge(value, place, at, depth, entries, own)
        continue
      }
      if (own.has(name)) {
        this.#faults.add(at, 'is given twice in one mapping')
        continue
      }
      own.add(name)
      entries.set(name, this.#read(value, at, depth + 1))
    }
    return { kind: 'mapping', place, entries }
  }

  /** Merge keys (yaml.org/type/merge): the map's own keys win, then the first of several sources. */
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
      this.#faults.add(place, `*${alias.source} is circular`)
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

/** The text of a scalar as it is written, even of a number, boolean or null: `3.10` is not 3.1. */
function textOf({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? '')
}

function placeAt(lines: LineCounter, offset: number, path: string): Place {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col), path }
}
