import type { Entry } from './entries.ts'

/** Everything in an archive is in blocks of this size (POSIX pax, "ustar Interchange Format"). */
export const BLOCK_BYTES = 512
/** An archive ends with two blocks of zeros. */
export const END_BYTES = 2 * BLOCK_BYTES

/** Where the fields of a header are, and how long they are. */
const NAME = { at: 0, bytes: 100 }
const MODE = { at: 100, bytes: 8 }
const USER = { at: 108, bytes: 8 }
const GROUP = { at: 116, bytes: 8 }
const SIZE = { at: 124, bytes: 12 }
const TIME = { at: 136, bytes: 12 }
const CHECKSUM = { at: 148, bytes: 8 }
const KIND = { at: 156, bytes: 1 }
const TARGET = { at: 157, bytes: 100 }
const MAGIC = { at: 257, bytes: 8 }
const PREFIX = { at: 345, bytes: 155 }

const KINDS = { file: '0', link: '2', folder: '5' }
const RECORDS_KIND = 'x'
const NO_BLOCKS = Buffer.alloc(0)
/** The largest number of a field of 11 octal digits. */
const MAX_SIZE = 0o77777777777

/** What a header says of an entry; the size and the mode of a file are known when it is read. */
export interface Headed {
  size: number
  isExecutable: boolean
}

/** How many bytes an entry takes in an archive. */
export function bytesOf(entry: Entry): number {
  return recordsOf(entry, entry.size).length + BLOCK_BYTES + entry.size + paddingOf(entry.size)
}

/** How many bytes fill the last block of a content. */
export function paddingOf(size: number): number {
  return -size & (BLOCK_BYTES - 1)
}

/** Writes the header of an entry: one block, after those of `recordsOf`. */
export function writeHeader(into: Buffer, at: number, entry: Entry, { size, isExecutable }: Headed): void {
  const block = into.subarray(at, at + BLOCK_BYTES).fill(0)
  const mode = entry.kind === 'link' ? 0o777 : entry.kind === 'folder' || isExecutable ? 0o755 : 0o644
  const { name, prefix } = splitName(nameOf(entry)) ?? { name: nameOf(entry), prefix: '' }
  put(block, NAME, name)
  put(block, PREFIX, prefix)
  put(block, TARGET, entry.target)
  finish(block, KINDS[entry.kind], mode, size > MAX_SIZE ? 0 : size, entry.modified)
}

/**
 * The blocks of records that come before the header of an entry with a name or size for which that has no room; empty for
 * most. Names that are not ASCII need one too, since a header does not say in which characters they are.
 */
export function recordsOf(entry: Entry, size: number): Buffer {
  const name = nameOf(entry)
  const isNamed = splitName(name) !== null
  const hasTarget = isPlain(entry.target) && entry.target.length <= TARGET.bytes
  if (isNamed && hasTarget && size <= MAX_SIZE) return NO_BLOCKS
  const records = [
    isNamed ? '' : recordOf('path', name),
    hasTarget ? '' : recordOf('linkpath', entry.target),
    size > MAX_SIZE ? recordOf('size', String(size)) : '',
  ]
  const text = Buffer.from(records.join(''))
  const blocks = Buffer.alloc(BLOCK_BYTES + text.length + paddingOf(text.length))
  put(blocks, NAME, 'PaxHeader')
  text.copy(blocks, BLOCK_BYTES)
  finish(blocks.subarray(0, BLOCK_BYTES), RECORDS_KIND, 0o644, text.length, entry.modified)
  return blocks
}

function finish(block: Buffer, kind: string, mode: number, size: number, modified: number): void {
  putNumber(block, MODE, mode)
  putNumber(block, USER, 0)
  putNumber(block, GROUP, 0)
  putNumber(block, SIZE, size)
  putNumber(block, TIME, modified)
  put(block, KIND, kind)
  put(block, MAGIC, 'ustar\u000000')
  // The checksum is that of a header with spaces in its place.
  put(block, CHECKSUM, ' '.repeat(CHECKSUM.bytes))
  let sum = 0
  // An iterator takes as long as the rest of the header.
  for (let at = 0; at < BLOCK_BYTES; at++) sum += block[at]!
  put(block, CHECKSUM, `${sum.toString(8).padStart(6, '0')}\0 `)
}

/** A record counts its own digits. */
function recordOf(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + String(bytes).length
  if (String(length).length > String(bytes).length) length = bytes + String(length).length
  return `${length}${rest}`
}

function nameOf({ kind, path }: Entry): string {
  return kind === 'folder' ? `${path}/` : path
}

/** A name in the two fields of a header; null when it does not fit. */
function splitName(name: string): { name: string; prefix: string } | null {
  if (!isPlain(name)) return null
  if (name.length <= NAME.bytes) return { name, prefix: '' }
  const slash = name.indexOf('/', name.length - NAME.bytes - 1)
  if (slash < 1 || slash > PREFIX.bytes || slash === name.length - 1) return null
  return { name: name.slice(slash + 1), prefix: name.slice(0, slash) }
}

function isPlain(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text)
}

function put(block: Buffer, { at, bytes }: { at: number; bytes: number }, text: string): void {
  block.write(text, at, bytes, 'latin1')
}

function putNumber(block: Buffer, field: { at: number; bytes: number }, value: number): void {
  put(block, field, `${value.toString(8).padStart(field.bytes - 1, '0')}\0`)
}
