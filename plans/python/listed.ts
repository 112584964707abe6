import { isRecord } from '../source/json.ts'

/** How deep tables of requirements are nested, including groups of a tool's environments. */
const MAX_DEPTH = 6

/** A longer file was not written by a person. */
const MAX_CHARACTERS = 256 * 1024

/** Tables and lists of requirements, for any tool (PyPA, "pyproject.toml"; Poetry, PDM, uv, Hatch, Pixi). */
const LISTS = /^(?:.*dependencies|dependency-groups|requires)$/

/**
 * Returns the requirements in a pyproject.toml as text: its description, keywords and links may contain names of packages
 * too. The whole text where it is not valid TOML.
 */
export async function listedIn(text: string): Promise<string> {
  if (text.length > MAX_CHARACTERS) return text
  const { parse } = await import('smol-toml')
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return text
  }
  const found: string[] = []
  search(value, false, 0)
  return found.join('\n')

  function search(each: unknown, isListed: boolean, depth: number): void {
    if (typeof each === 'string' && isListed) found.push(each)
    else if (Array.isArray(each)) {
      if (depth < MAX_DEPTH) for (const item of each) search(item, isListed, depth + 1)
    } else if (isRecord(each) && depth < MAX_DEPTH) {
      for (const [key, item] of Object.entries(each)) {
        if (isListed) found.push(key)
        search(item, isListed || LISTS.test(key), depth + 1)
      }
    }
  }
}
