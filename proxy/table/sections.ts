import { SECTIONS, type Section } from '../protocol.ts'

/** Returns an empty map for each section. */
export function sectionMaps<Value>(): Record<Section, Map<string, Value>> {
  const maps = SECTIONS.map((section) => [section, new Map<string, Value>()])
  return Object.fromEntries(maps) as Record<Section, Map<string, Value>>
}
