import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FLAGS } from '#server/options/flags.ts'
import { ROOT, circularImports, importGraph, importsOf, resolveInside, sourcesOf } from './support/sources.ts'

/** What each room may import from the others; a path means only that file or folder. */
const MAY_IMPORT: Record<string, string[]> = {
  server: [
    'proxy/limits.ts',
    'proxy/latency-buckets.ts',
    'proxy/networks.ts',
    'proxy/sites/conditions.ts',
    'proxy/sites/pattern.ts',
  ],
  proxy: [],
  plans: [],
  mcp: ['cli/suggest.ts'],
  agent: [
    'server/errors.ts',
    'daemon/work/each.ts',
    'daemon/metrics/proc.ts',
    'daemon/proxy/find.ts',
    'daemon/proxy/greeting.ts',
    'daemon/proxy/launch.ts',
    'proxy/control',
  ],
  daemon: [
    'server',
    'agent/protocol.ts',
    'agent/join.ts',
    'agent/probe.ts',
    'agent/listen-address.ts',
    'plans/index.ts',
    'proxy/protocol.ts',
    'proxy/control',
    'proxy/table',
    'proxy/compression/codings.ts',
    'proxy/compression/gains.ts',
    'proxy/resolver/message.ts',
    'proxy/sites/media-types.ts',
    'proxy/sites/rules-file.ts',
  ],
  routes: ['server', 'daemon', 'mcp'],
  cli: ['server', 'daemon', 'mcp', 'proxy/protocol.ts', 'proxy/control'],
  preset: ['server', 'daemon', 'cli', 'proxy/protocol.ts'],
  modules: ['server'],
  dashboard: ['server'],
}

/** Packages that belong to a few places. Everything else may use any package except these. */
const PACKAGE_HOMES: Record<string, string[]> = {
  dockerode: ['daemon/engine/'],
  h3: ['server/http/', 'routes/', 'preset/'],
  nitropack: ['preset/', 'modules/', 'nitro.config.ts', 'scripts/'],
  db0: ['server/database/'],
  'age-encryption': ['server/backups/sealing.ts'],
  ws: [
    'server/http/web-socket.ts',
    'server/datastores/',
    'server/shells/',
    'cli/client/socket.ts',
    'cli/client/tunnel.ts',
    'cli/client/terminal.ts',
  ],
}

/**
 * The rooms inside a room, the lowest first: none imports one that comes after it. A file that is listed here by its name
 * does not belong to its folder's place.
 */
const ORDER: Record<string, string[]> = {
  proxy: [
    'clock.ts',
    'modules.ts',
    'limits.ts',
    'latency-buckets.ts',
    'networks.ts',
    'log.ts',
    'protocol.ts',
    'counts.ts',
    'control',
    'table',
    'spawn.ts',
    'http1',
    'wire',
    'compression',
    'pages',
    'sites',
    'edge',
    'upstream',
    'routes',
    'relay',
    'http2',
    'tls',
    'resolver',
    'worker',
    'supervisor',
    'main.ts',
  ],
  plans: [
    'source',
    'ranges.ts',
    'plan.ts',
    'start-command.ts',
    'programs.ts',
    'pins.ts',
    'base-images.ts',
    'apt.ts',
    'app-json.ts',
    'registries.ts',
    'installation.ts',
    'playwright.ts',
    'explain-no-plan.ts',
    'steps.ts',
    'place.ts',
    'procfile.ts',
    'start.ts',
    'choices.ts',
    'node',
    'java',
    'dotnet.ts',
    'gleam.ts',
    'cpp.ts',
    'shell.ts',
    'deno.ts',
    'elixir.ts',
    'generators.ts',
    'php',
    'python',
    'ruby',
    'rust',
    'go',
    'subfolders.ts',
    'hosts',
    'bots.ts',
    'languages.ts',
    'build-plan.ts',
    'index.ts',
  ],
  daemon: [
    'work',
    'engine',
    'packet-filter',
    'proxy',
    'logs',
    'log-drains',
    'nodes',
    'world.ts',
    'heartbeat.ts',
    'retention.ts',
    'fence.ts',
    'upgrade',
    'engine-absence.ts',
    'notifications',
    'environments',
    'entries',
    'reader',
    'sources',
    'builds',
    'instances',
    'sites',
    'source-reader.ts',
    'git-runner.ts',
    'blueprints',
    'git-dialer.ts',
    'git-statuses.ts',
    'jobs',
    'rollouts',
    'domains',
    'certificates',
    'backups',
    'replacements',
    'disks',
    'moves',
    'datastores',
    'shells',
    'server-backups',
    'restore',
    'metrics',
    'disk-use',
    'cleanup',
    'deploys',
    'doctor',
    'engine-events.ts',
    'node-events.ts',
    'working.ts',
    'index.ts',
    'info.ts',
  ],
}

const sources = [...Object.keys(MAY_IMPORT), 'scripts'].flatMap(sourcesOf)
const graph = importGraph(sources)

describe('the rooms', () => {
  it('import only what the architecture allows', () => {
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

  it('write imports from another room by its name and their own by path', () => {
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
            /^(server|daemon|plans|proxy|mcp|agent)\//.test(target) &&
            /^(server|daemon|plans|proxy|mcp|agent)\//.test(path)
          )
        })
        .map((specifier) => `${path} -> ${specifier}`),
    )
    expect(broken).toEqual([])
  })

  it('use packages with one home only there', () => {
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

  it('leave the data plane with nothing except node and itself', () => {
    const foreign = sources
      .filter(({ path }) => path.startsWith('proxy/'))
      .flatMap(({ path, imports }) => imports.map((specifier) => `${path} -> ${specifier}`))
      .filter((line) => !/ -> (node:|\.\.?\/)/.test(line))
    expect(foreign).toEqual([])
  })

  it('leave the plans with nothing but node, packages and themselves', () => {
    const foreign = sources
      .filter(({ path }) => path.startsWith('plans/'))
      .flatMap(({ path, imports }) =>
        imports
          .filter((specifier) => {
            const target = resolveInside(path, specifier)
            return specifier.startsWith('#') || (target !== null && !target.startsWith('plans/'))
          })
          .map((specifier) => `${path} -> ${specifier}`),
      )
    expect(foreign).toEqual([])
  })
})

describe('the imports', () => {
  it('form no circle, including those of types', () => {
    expect(circularImports(graph)).toEqual([])
  })

  it.each([
    ['two files', { a: ['b'], b: ['a'] }, ['a -> b', 'b -> a']],
    ['itself', { a: ['a'] }, ['a -> a']],
    [
      'three, among others',
      { d: ['a'], a: ['b'], b: ['c'], c: ['a', 'e'], e: [] },
      ['a -> b', 'b -> c', 'c -> a'],
    ],
    ['none', { a: ['b', 'c'], b: ['c'], c: [] }, []],
  ])('with a circle of %s would be found', (_circle, imports: Record<string, string[]>, found) => {
    expect(circularImports(new Map(Object.entries(imports)))).toEqual(found)
  })

  it.each(Object.entries(ORDER))('inside %s/ go from higher rooms to lower ones', (room, order) => {
    const inside = [...graph].filter(([path]) => path.startsWith(`${room}/`))
    const broken = inside.flatMap(([path, targets]) =>
      targets
        .filter((target) => target.startsWith(`${room}/`) && height(target) > height(path))
        .map((target) => `${path} -> ${target}`),
    )
    expect(broken).toEqual([])
    const used = new Set(inside.map(([path]) => order[height(path)]))
    expect(order.filter((place) => !used.has(place))).toEqual([])
  })
})

describe('the process that reads sources', () => {
  it('cannot reach the database, the engine, a secret or a server', () => {
    const reached = reachedFrom('daemon/source-reader.ts')
    const foreign = reached.filter(
      (specifier) =>
        /^(server\/(?!files\.ts$|errors\.ts$|text\/)|daemon\/(engine|deploys|rollouts)\/)/.test(specifier) ||
        /^node:(child_process|http2?|https|tls|dgram|sqlite)$/.test(specifier) ||
        !/^(node:|\w+\/|semver$|tar-stream$|yaml$|smol-toml$)/.test(specifier),
    )
    expect(reached).toContain('plans/go/plan.ts')
    expect(foreign).toEqual([])
  })
})

describe('the thread that reads blueprints', () => {
  it('cannot reach the database, the engine, a secret or a server', () => {
    const reached = reachedFrom('server/blueprints/reading-program.ts')
    const foreign = reached.filter((specifier) =>
      /^(server\/(database|secrets|accounts|options)|daemon\/|node:(child_process|http2?|https|tls|sqlite|fs))/.test(
        specifier,
      ),
    )
    expect(reached).toContain('server/blueprints/yaml.ts')
    expect(foreign).toEqual([])
  })
})

describe('the program that starts git', () => {
  it('imports only node and its two numbers: credentials pass through it', () => {
    expect(reachedFrom('daemon/git-runner.ts').filter((specifier) => !specifier.startsWith('node:'))).toEqual(
      ['daemon/git-runner.ts', 'daemon/sources/git-lifeline.ts'],
    )
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
            /^(\.|#(server|daemon|plans|proxy|mcp|agent)\/)/.test(specifier) &&
            !/\.(ts|mjs|vue|css|json|svg)$/.test(specifier),
        )
        .map((specifier) => `${path} -> ${specifier}`),
    )
    expect(broken).toEqual([])
  })

  it('leave nothing to do later', () => {
    expect(lines(/\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([])
  })

  it('wait for answers in one place, since node does not report some of them with the obvious event', () => {
    const homes = ['server/network/answers.ts', 'daemon/engine/attachment.ts', 'cli/client/transport.ts']
    const elsewhere = lines(/'response'/).filter((line) => !homes.includes(line.split(':')[0]!))
    expect(elsewhere).toEqual([])
  })

  it('ask other servers in one room, which judges where a request leads', () => {
    // Other nodes' agents, the registry on this host. The host's own engine, instances and outbound proxy; and an address that was judged for a name.
    const others = [
      'engine/attachment',
      'instances/probe',
      'sources/forward-gate',
      'domains/probe',
      'nodes/agent-calls',
      'nodes/registry-calls',
    ]
    // Git LFS also goes through proxies, by undici's agents for them.
    const rooms = ['server/network/request.ts', 'server/network/json.ts', 'server/network/agents.ts']
    // What the program asks itself stays in memory.
    const own = 'server/http/own-requests.ts'
    const homes = [...rooms, own, ...[...others, 'sources/lfs-client'].map((path) => `daemon/${path}.ts`)]
    const asking = sources
      .filter(({ path }) => /^(server|daemon|routes)\//.test(path))
      .filter(({ text }) => /\brequest\b[^}]*\} from 'node:https?'|from '(ofetch|undici)'/.test(text))
      .map(({ path }) => path)
    expect(asking.filter((path) => !homes.includes(path))).toEqual([])
  })

  it('start nothing when they are imported', () => {
    const broken = sources
      .filter(({ path }) => path.startsWith('server/'))
      .filter(({ text }) => /^(setInterval|setTimeout|process\.on)\(/m.test(text))
      .map(({ path }) => path)
    expect(broken).toEqual([])
  })
})

describe('what a caller may reach', () => {
  it('is not asked by tasks, which nobody called: they load what a record belongs to', () => {
    const broken = sources
      // A blueprint names its environment like a request.
      .filter(({ path }) => path.startsWith('daemon/') && !path.startsWith('daemon/blueprints/'))
      .filter(({ text }) => /\bfind(Service|Datastore|Environment|EnvGroup|Deploy|Job)\b/.test(text))
      .map(({ path }) => path)
    expect(broken).toEqual([])
  })

  it('is asked by every endpoint, which loads nothing behind its back', () => {
    const broken = sources
      .filter(({ path }) => path.startsWith('routes/'))
      .filter(({ text }) =>
        /\b(getService|getDatastore|getJob|loadEnvironment|allServices|listServices)\w*\b/.test(text),
      )
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

  it('has only links to existing pages and headings', () => {
    const documents = readdirSync(join(ROOT, 'docs'), { encoding: 'utf8', recursive: true })
    const pages = [...readdirSync(ROOT), ...documents.map((name) => `docs/${name}`)]
    const broken = pages
      .filter((page) => page.endsWith('.md'))
      .flatMap((page) =>
        linksOf(page)
          .filter((link) => !isThere(page, link))
          .map((link) => `${page}: ${link}`),
      )
    expect(broken).toEqual([])
  })

  it('says what every dependency is for', () => {
    const text = readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8')
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>
    const names = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    )
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })
})

/** The links of a page to other files of the project, and to its own headings. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^\w+:/.test(link))
}

function isThere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path)
  if (!existsSync(target)) return false
  return heading === undefined || headingsOf(readFileSync(target, 'utf8')).includes(heading)
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** A contract with every field and a call or two; longer routes contain domain rules. */
const MAX_ROUTE_LINES = 60

/** The place of a file of an ordered room in its order. */
function height(path: string): number {
  const [room = ''] = path.split('/')
  const inside = path.slice(room.length + 1)
  const order = ORDER[room]!
  const own = order.indexOf(inside)
  const place = own >= 0 ? own : order.findIndex((folder) => inside.startsWith(`${folder}/`))
  if (place < 0) throw new Error(`${path} has no place in the order of ${room}/`)
  return place
}

function isRoom(path: string): boolean {
  return Object.hasOwn(MAY_IMPORT, path.split('/')[0]!)
}

/** The files and packages that a program of the project runs, without types. */
function reachedFrom(entry: string): string[] {
  const reached = new Set([entry])
  for (const path of reached) {
    const source = sources.find((each) => each.path === path)
    for (const specifier of importsOf(source?.text.replaceAll(/^import type .*$/gm, '') ?? ''))
      reached.add(resolveInside(path, specifier) ?? specifier)
  }
  return [...reached]
}

function lines(pattern: RegExp): string[] {
  return sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  )
}
