import { linesOf } from '../../source/text.ts'
import type { Manifests } from '../manifest.ts'
import { difference } from './importers.ts'

/**
 * Returns what pnpm-lock.yaml lacks for `--frozen-lockfile`; null for nothing, and for the format before pnpm 8 (pnpm.io,
 * "pnpm install").
 */
export function gapOfPnpm(text: string, manifests: Manifests): string | null {
  const importers = importersOf(text)
  return importers === null ? null : difference(importers, manifests, overridesOf(text))
}

/** Packages for which pnpm-workspace.yaml or package.json set one version everywhere. */
function overridesOf(text: string): string[] {
  const names: string[] = []
  let isInside = false
  for (const line of linesOf(text)) {
    if (/^\S/.test(line)) isInside = line.startsWith('overrides:')
    const key = isInside ? keyOf(line) : null
    if (key !== null) names.push(key)
  }
  return names
}

/** The file is written by a program and always looks the same: two spaces per level, names before colons. */
function importersOf(text: string): Map<string, Map<string, string>> | null {
  // Without a workspace, the older format has the groups of the only package at the top level.
  const depth = text.includes('\nimporters:') ? 2 : 0
  const importers = new Map<string, Map<string, string>>()
  let ranges = new Map<string, string>()
  if (depth === 0) importers.set('', ranges)
  let isInside = false
  let isKnown = false
  let name = ''
  for (const line of linesOf(text)) {
    const key = keyOf(line)
    if (key === null) continue
    const indent = line.length - line.trimStart().length
    if (indent === 0) isInside = depth === 0 ? key.endsWith('ependencies') : key === 'importers'
    if (!isInside) continue
    if (depth > 0 && indent === depth)
      importers.set(key === '.' ? '' : key, (ranges = new Map<string, string>()))
    else if (indent === 2 * depth + 2) name = key
    else if (key === 'specifier') {
      ranges.set(name, unquoted(line.slice(line.indexOf(':') + 1)))
      isKnown = true
    }
  }
  return isKnown ? importers : null
}

function keyOf(line: string): string | null {
  const text = line.trim()
  const end = text.startsWith("'") ? text.indexOf("':", 1) + 1 : text.indexOf(':')
  return end <= 0 ? null : unquoted(text.slice(0, end))
}

function unquoted(text: string): string {
  const trimmed = text.trim()
  return /^'.*'$/.test(trimmed) ? trimmed.slice(1, -1) : trimmed
}
