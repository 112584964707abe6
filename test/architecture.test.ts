import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { FLAGS } from '#server/options.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** What each room may import of the others; a path means that file or folder alone. */
const MAY_IMPORT: Record<string, string[]> = {
  server: [],
  proxy: [],
  daemon: ['server', 'proxy/protocol.ts'],
  routes: ['server', 'daemon'],
  cli: ['server', 'daemon', 'proxy/protocol.ts'],
  preset: ['server', 'daemon', 'cli', 'proxy/protocol.ts'],
  modules: ['server'],
  dashboard: ['server'],
}

/** Packages that belong to a few places. Everything else may use any package but these. */
const PACKAGE_HOMES: Record<string, string[]> = {
  dockerode: ['daemon/engine/'],
  h3: ['server/http/', 'routes/', 'preset/'],
  nitropack: ['preset/', 'modules/', 'nitro.config.ts', 'scripts/'],
  db0: ['server/database/'],
}

interface Source {
  /** Relative to the checkout. */
  path: string
  text: string
  /** Import specifiers, in order. */
  imports: string[]
}

const sources = [...Object.keys(MAY_IMPORT), 'scripts'].flatMap(read)

describe('the rooms', () => {
  it('import only what the architecture lets them', () => {
    const broken = sources.flatMap(({ path, imports }) => {
      const room = path.split('/')[0]!
      const allowed = [room, ...(MAY_IMPORT[room] ?? [])]
      return imports.flatMap((specifier) => {
        const target = resolveInside(path, specifier)
        if (target === null || !isRoom(target) || !isRoom(path)) return []
        return allowed.some((place) => target === place || target.startsWith(`${place}/`))
          ? []
          : [`${path} -> ${target}`]
      })
    })
    expect(broken).toEqual([])
  })

  it('write the imports of another room by its name and those of their own by path', () => {
    const broken = sources.flatMap(({ path, imports }) =>
      imports
        .filter((specifier) => {
          const target = resolveInside(path, specifier)
          const crosses = target !== null && target.split('/')[0] !== path.split('/')[0]
          const named = specifier.startsWith('#')
          // What Nitro and vite read themselves does not know the names.
          return (
            target !== null &&
            named !== crosses &&
            /^(server|daemon|proxy)\//.test(target) &&
            /^(server|daemon|proxy)\//.test(path)
          )
        })
        .map((specifier) => `${path} -> ${specifier}`),
    )
    expect(broken).toEqual([])
  })

  it('keep packages with one home at home', () => {
    const broken = sources.flatMap(({ path, imports }) =>
      imports
        .filter((specifier) => {
          const homes = PACKAGE_HOMES[specifier.split('/')[0]!]
          return homes && !homes.some((home) => path.startsWith(home))
        })
        .map((specifier) => `${path} -> ${specifier}`),
    )
    expect(broken).toEqual([])
  })

  it('leave the data plane with nothing but node and itself', () => {
    const foreign = sources
      .filter(({ path }) => path.startsWith('proxy/'))
      .flatMap(({ path, imports }) => imports.map((specifier) => `${path} -> ${specifier}`))
      .filter((line) => !/ -> (node:|\.\.?\/)/.test(line))
    expect(foreign).toEqual([])
  })
})

describe('the process that reads sources', () => {
  it('cannot reach the database, the engine, a secret or a server', () => {
    const reached = reachedFrom('daemon/source-reader.ts')
    const foreign = reached.filter(
      (specifier) =>
        /^(server\/(?!files\.ts$|errors\.ts$)|daemon\/(engine|deploys|rollouts)\/)/.test(specifier) ||
        /^node:(child_process|http2?|https|tls|dgram|sqlite)$/.test(specifier) ||
        !/^(node:|\w+\/|semver$|tar-stream$)/.test(specifier),
    )
    expect(reached).toContain('daemon/builds/plans/go.ts')
    expect(foreign).toEqual([])
  })
})

describe('the sources', () => {
  it('run no shell', () => {
    expect(lines(/\bshell:\s*true\b/)).toEqual([])
    const broken = sources
      .filter(({ text }) =>
        /import\s*(\{[^}]*\b(exec|execSync)\b[^}]*\}|[\w*][^{}\n]*)\s*from 'node:child_process'/.test(text),
      )
      .map(({ path }) => path)
    expect(broken).toEqual([])
  })

  it('import files of the project with their extension', () => {
    const broken = sources.flatMap(({ path, imports }) =>
      imports
        .filter(
          (specifier) =>
            /^(\.|#(server|daemon|proxy)\/)/.test(specifier) &&
            !/\.(ts|mjs|vue|css|json|svg)$/.test(specifier),
        )
        .map((specifier) => `${path} -> ${specifier}`),
    )
    expect(broken).toEqual([])
  })

  it('have nothing left to do later', () => {
    expect(lines(/\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([])
  })

  it('start nothing when they are imported', () => {
    const broken = sources
      .filter(({ path }) => path.startsWith('server/'))
      .filter(({ text }) => /^(setInterval|setTimeout|process\.on)\(/m.test(text))
      .map(({ path }) => path)
    expect(broken).toEqual([])
  })
})

describe('the routes', () => {
  const routes = sources.filter(({ path }) => path.startsWith('routes/'))

  it('name their method in the file name, so that Nitro never serves a file for every method', () => {
    const broken = routes
      .filter(({ path }) => !/\.(get|post|put|patch|delete)\.ts$/.test(path))
      .map(({ path }) => path)
    expect(broken).toEqual([])
  })

  it('hold one contract and little else', () => {
    const broken = routes
      .filter(({ path }) => path.startsWith('routes/api/v1/') || path.startsWith('routes/hooks/'))
      .filter(
        ({ text }) =>
          !text.includes('export default defineEndpoint(') || text.split('\n').length > MAX_ROUTE_LINES,
      )
      .map(({ path, text }) => `${path}: ${text.split('\n').length} lines`)
    expect(broken).toEqual([])
  })
})

describe('the documentation', () => {
  it('names every flag of the server with its variable', () => {
    const text = readFileSync(join(ROOT, 'docs/operation.md'), 'utf8').replaceAll(/ +/g, ' ')
    const missing = Object.entries(FLAGS)
      .map(([name, { variable }]) => `| \`--${name}\` | \`${variable}\` |`)
      .filter((row) => !text.includes(row))
    expect(missing).toEqual([])
  })

  it('says of every dependency what it is for', () => {
    const text = readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8')
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>
    const names = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    )
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })
})

/** A contract with every field and a call or two; what is longer has domain rules in it. */
const MAX_ROUTE_LINES = 60

function isRoom(path: string): boolean {
  return Object.hasOwn(MAY_IMPORT, path.split('/')[0]!)
}

function read(path: string): Source[] {
  const file = join(ROOT, path)
  if (!existsSync(file)) return []
  const entries = readdirSync(file, { withFileTypes: true, recursive: true } as const)
  return entries
    .filter(
      (entry) =>
        entry.isFile() && /\.(ts|mjs|vue)$/.test(entry.name) && !entry.parentPath.includes('node_modules'),
    )
    .map((entry) => {
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
      return { path: relative(ROOT, join(entry.parentPath, entry.name)), text, imports: importsOf(text) }
    })
}

/** The static imports and re-exports of a module, then what it imports when it runs. */
function importsOf(text: string): string[] {
  const clause = String.raw`(?:import|export)\s+(?:type\s+)?(?:[\w*]+(?:\s+as\s+\w+)?\s*,?\s*)?(?:\{[^}]*\}\s*)?from\s+`
  const fixed = text.matchAll(new RegExp(`^(?:${clause}|import\\s+)['"]([^'"]+)['"]`, 'gm'))
  const lazy = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)
  return [...fixed, ...lazy].map(([, specifier]) => specifier!)
}

/** The files and packages that a program of the project runs, types left out. */
function reachedFrom(entry: string): string[] {
  const reached = new Set([entry])
  for (const path of reached) {
    const source = sources.find((each) => each.path === path)
    for (const specifier of importsOf(source?.text.replaceAll(/^import type .*$/gm, '') ?? ''))
      reached.add(resolveInside(path, specifier) ?? specifier)
  }
  return [...reached]
}

/** The path, relative to the checkout, of the project's file that a specifier means; null for packages. */
function resolveInside(from: string, specifier: string): string | null {
  if (/^#(server|daemon|proxy)\//.test(specifier)) return specifier.slice(1)
  if (!specifier.startsWith('.')) return null
  const target = relative(ROOT, join(ROOT, dirname(from), specifier))
  return target.startsWith('..') ? null : target
}

function lines(pattern: RegExp): string[] {
  return sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  )
}
