import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A shape that public files have, in our own words, and its result. */
export interface Shape {
  title: string
  text: string
  becomes: string
  warns: string[]
}

/** Reads shapes that follow each other: a title, the file, the native text, the warnings. */
export function readShapes(name: string): Shape[] {
  const file = readFileSync(join(import.meta.dirname, name), 'utf8')
  return file
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const [, title = '', text = '', becomes = '', warns = ''] =
        /^(.*)\n([^]*?)--- becomes\n([^]*?)--- warns\n([^]*)$/.exec(block) ?? []
      return { title, text, becomes, warns: warns.split('\n').filter((line) => line !== '') }
    })
}
