import { scalarAt } from '../builder.ts'
import { warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { Node, ScalarNode } from '../nodes.ts'
import { wordsOf } from './commands.ts'
import type { ComposeProgram } from './file.ts'
import { missingIn } from './interpolation.ts'
import type { Port } from './ports.ts'

/** An HTTP request that a health check sends to its own program. */
export interface Probe {
  scheme: string
  port: Port
  path: string
}

/** An address: scheme, host, port, and the path up to a character that ends it in a shell. */
const ADDRESS =
  /(?<![\w.:/@-])(?:(https?):\/\/)?(\[::1\]|[A-Za-z0-9][\w.-]*)(?::(\d{1,5}))?(\/[\w.~%!*+,:@/?=-]*)?(?=["'`)\s;|]|&&|$)/g
const LOCAL = new Set(['localhost', '127.0.0.1', '0.0.0.0', '[::1]'])
/** A longer check is no plain request, and reading it could take long. */
const MAX_TEST_LENGTH = 4_096
/** Programs that take an address without a scheme as one of HTTP. */
const CLIENTS = /\b(?:curl|wget)\b/
const USUAL_PORTS: Record<string, number> = { http: 80, https: 443 }

/** The request of a program's health check, if it is one over HTTP. */
export function probeOf({ name, mapping }: ComposeProgram): Probe | undefined {
  const check = mapping.node.entries.get('healthcheck')
  const test = check?.kind === 'mapping' ? check.entries.get('test') : undefined
  if (test === undefined || missingFrom(test).length > 0) return undefined
  const text = wordsOf(test).words.join(' ')
  if (text.length > MAX_TEST_LENGTH) return undefined
  for (const [, written, host = '', port, path] of text.matchAll(ADDRESS)) {
    const isOwn = LOCAL.has(host) || (host === name && written !== undefined)
    // A host alone may be the value of an option.
    const isWhole = port !== undefined || path !== undefined
    const scheme = written ?? (isWhole && CLIENTS.test(text) ? 'http' : undefined)
    if (!isOwn || scheme === undefined) continue
    const number = Number(port ?? USUAL_PORTS[scheme])
    return { scheme, port: { number, last: number, node: test }, path: path ?? '/' }
  }
  return undefined
}

/** The path of the health check; `port` is null for a program that does not listen. */
export function readHealth(
  program: ForeignMapping,
  probe: Probe | undefined,
  port: number | 'unknown' | null,
  notes: Notes,
): ScalarNode | undefined {
  const check = program.mapping('healthcheck')
  const test = check?.take('test')
  if (!check) return undefined
  check.end(LEFT_OUT)
  if (!test) return undefined
  const isOwnPort = probe && (port === 'unknown' || probe.port.number === port)
  if (port !== null && isOwnPort) return scalarAt(test.place, probe.path)
  const missing = missingFrom(test)
  warn(
    notes,
    test,
    port === null
      ? 'a background worker is not probed: it is left out'
      : missing.length > 0
        ? `uses ${missing.join(', ')} from outside the file: set health_check_path by hand`
        : !probe
          ? 'health checks use HTTP here: set health_check_path, or only the port is probed'
          : `probes port ${probe.port.number}, but health checks use the port of the service here: it is left out`,
  )
  return undefined
}

const LEFT_OUT: Record<string, string> = {
  ...Object.fromEntries(
    ['interval', 'timeout', 'retries', 'start_period', 'start_interval'].map((field) => [
      field,
      'the server decides when to probe',
    ]),
  ),
  disable: 'the port of a service is always probed here',
}

function missingFrom(test: Node): string[] {
  return (test.kind === 'list' ? test.items : [test]).flatMap((item) => [...missingIn(item)])
}
