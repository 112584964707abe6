import { putText } from '../http1/bytes.ts'
import { dropNamedLines, type Head } from '../http1/head.ts'
import type { Coding } from './codings.ts'

/** Room for the header lines that are added to a head. */
export const CODING_ADDED_BYTES = 128

const VARY = 'Vary: Accept-Encoding\r\n'
/** Fields that describe the original bytes. Ranges of them can no longer be requested. */
const REPLACED = ['content-length', 'transfer-encoding', 'accept-ranges']
const TAG = ['etag']
/** A strong entity tag (RFC 9110 8.8.3). A value that is not exactly one tag is not passed on as a weak one. */
const STRONG_TAG = /^"[!\x23-\x7e\x80-\xff]*"$/

/** Adds to the copied head of an answer that other clients may get the answer in another coding. */
export function announceVariants(output: Uint8Array, head: Head, fields: ReadonlyMap<string, string>): void {
  const tag = fields.get('etag')
  // The client may ask with a tag that we weakened. A strong one in the 304 would match nothing that it has.
  if (head.status === 304 && tag !== undefined) replaceTag(output, head, tag)
  addVary(output, head, fields)
}

/** Makes the copied head of an answer announce that its body is in a coding and, with `chunked`, comes in chunks. */
export function announceCoding(
  output: Uint8Array,
  head: Head,
  fields: ReadonlyMap<string, string>,
  coding: Coding,
  chunked: boolean,
): void {
  dropNamedLines(output, head, REPLACED)
  const tag = fields.get('etag')
  if (tag !== undefined) replaceTag(output, head, tag)
  addVary(output, head, fields)
  const framing = chunked ? 'Transfer-Encoding: chunked\r\n' : ''
  append(output, head, `Content-Encoding: ${coding}\r\n${framing}`)
}

/** Weakens the tag: the bytes are no longer those that a strong tag promises (RFC 9110 8.8.3). */
function replaceTag(output: Uint8Array, head: Head, tag: string): void {
  if (tag.startsWith('W/')) return
  dropNamedLines(output, head, TAG)
  if (STRONG_TAG.test(tag)) append(output, head, `ETag: W/${tag}\r\n`)
}

function addVary(output: Uint8Array, head: Head, fields: ReadonlyMap<string, string>): void {
  const named = (fields.get('vary') ?? '').toLowerCase().split(',')
  if (named.some((name) => ['*', 'accept-encoding'].includes(name.trim()))) return
  append(output, head, VARY)
}

function append(output: Uint8Array, head: Head, lines: string): void {
  head.outputEnd = putText(output, head.outputEnd, lines)
}
