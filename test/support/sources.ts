import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A file of the project's code. */
export interface Source {
  /** Relative to the checkout. */
  path: string
  text: string
  /** What it imports, types included, as written: in order, lazy imports last. */
  imports: string[]
}

/** Every source in a folder of the checkout. */
export function sourcesOf(folder: string): Source[] {
  const root = join(ROOT, folder)
  if (!existsSync(root)) return []
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter(
      (entry) =>
        entry.isFile() && /\.(ts|mjs|vue)$/.test(entry.name) && !entry.parentPath.includes('node_modules'),
    )
    .map((entry) => {
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
      return { path: relative(ROOT, join(entry.parentPath, entry.name)), text, imports: importsOf(text) }
    })
}

/** The path, relative to the checkout, of the project's file that a specifier refers to; null for packages. */
export function resolveInside(from: string, specifier: string): string | null {
  if (/^#(server|daemon|plans|proxy|mcp|agent)\//.test(specifier)) return specifier.slice(1)
  if (!specifier.startsWith('.')) return null
  const target = relative(ROOT, join(ROOT, dirname(from), specifier))
  return target.startsWith('..') ? null : target
}

/** Which other sources each source imports. */
export function importGraph(sources: readonly Source[]): Map<string, string[]> {
  const paths = new Set(sources.map(({ path }) => path))
  return new Map(
    sources.map(({ path, imports }) => {
      const targets = imports.map((specifier) => resolveInside(path, specifier))
      return [path, targets.filter((target) => target !== null && paths.has(target)) as string[]]
    }),
  )
}

/**
 * The imports that form circles: what is left after repeatedly removing files that import none of those left, and files
 * that none of those left imports.
 */
export function circularImports(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map([...graph].map(([path, targets]) => [path, [...targets]]))
  for (let before = Infinity; left.size < before;) {
    before = left.size
    const imported = new Set([...left.values()].flat())
    for (const [path, targets] of left) {
      const kept = targets.filter((target) => left.has(target))
      left.set(path, kept)
      if (kept.length === 0 || !imported.has(path)) left.delete(path)
    }
  }
  return [...left].flatMap(([path, targets]) =>
    targets.filter((target) => left.has(target)).map((target) => `${path} -> ${target}`),
  )
}

/** The static imports and re-exports of a module, then what it imports at run time. */
export function importsOf(text: string): string[] {
  const clause = String.raw`(?:import|export)\s+(?:type\s+)?(?:[\w*]+(?:\s+as\s+\w+)?\s*,?\s*)?(?:\{[^}]*\}\s*)?from\s+`
  const fixed = text.matchAll(new RegExp(`^(?:${clause}|import\\s+)['"]([^'"]+)['"]`, 'gm'))
  const lazy = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)
  return [...fixed, ...lazy].map(([, specifier]) => specifier!)
}
