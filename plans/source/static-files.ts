import { isRecord, parsedJson } from './json.ts'
import { findInLines, hasLine } from './text.ts'
import type { Tree } from './tree.ts'

/** Settings of a folder that is served as it is. */
export interface StaticFiles {
  /** Relative to the tree; null if the file names none. */
  folder: string | null
  /** Whether paths without a file are answered by index.html. */
  singlePage: boolean
}

const NOTHING: StaticFiles = { folder: null, singlePage: false }

/** A folder of the tree, with no way out of it. */
const FOLDER = /^(?:\.\/)*([\w-][\w.-]*(?:\/[\w-][\w.-]*)*)\/?$/

/** Reads the `Staticfile` of Cloud Foundry and Railpack, or the `static.json` of Heroku's buildpack for static files. */
export async function readStaticFiles(tree: Tree): Promise<StaticFiles> {
  const text = await tree.readText('Staticfile')
  if (text !== null) {
    return {
      folder: folderOf(findInLines(text, /^root:\s*["']?([^"'\s]+)["']?\s*$/)),
      singlePage: hasLine(text, /^(?:pushstate:\s*enabled|index_fallback:\s*true)\s*$/),
    }
  }
  const value = parsedJson((await tree.readText('static.json')) ?? '')
  if (!isRecord(value)) return NOTHING
  return {
    folder: folderOf(value.root),
    singlePage: isRecord(value.routes) && value.routes['/**'] === 'index.html',
  }
}

function folderOf(text: unknown): string | null {
  return typeof text === 'string' ? (FOLDER.exec(text)?.[1] ?? null) : null
}
