import { isRecord } from '../json.ts'

/** As deep as tables of requirements lie, the groups of a tool's environments among them. */
const MAX_DEPTH = 6

/** A longer one no person wrote. */
const MAX_CHARACTERS = 256 * 1024

/** Tables and lists of requirements, whatever tool reads them (PyPA, "pyproject.toml"; Poetry, PDM, uv, Hatch, Pixi). */
const LISTS = /^(?:.*dependencies|dependency-groups|requires)$/

/**
 * What a pyproject.toml names as requirements, as text: its description, keywords and links name other things by the names
 * of packages. The whole text where it is no TOML.
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
