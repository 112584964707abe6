import { setResponseHeader, type H3Event } from 'h3'
import { AppError } from '../errors.ts'
import { identify } from './auth.ts'
import { isHead } from './head.ts'

/** Methods in the order in which `Allow` names them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * The refusal of a request that no route takes: `not_found` when its path is none, else `method_not_allowed` with
 * `Allow`, but `unauthorized` first for who has no credentials.
 */
export async function refusalOfUnmatched(event: H3Event): Promise<AppError> {
  // The list holds every route file, so it is imported when everything is loaded.
  const { endpoints } = await import('#endpoints')
  const path = event.path.split('?')[0]!
  // Taken apart once: anybody may ask for a path of thousands of segments, and there are many routes.
  const segments = path.replace(/(.)\/$/, '$1').split('/')
  const following = endpoints.filter((endpoint) => follows(segments, endpoint.path))
  // A path that is a file of its own is no name that another one takes.
  const own = following.filter((endpoint) => !endpoint.path.includes(':'))
  const matching = own.length > 0 ? own : following
  if (matching.length === 0) {
    // The list of files is of the build, like the endpoints.
    const { isDashboardPath } = await import('./pages.ts')
    if (isDashboardPath(path)) return otherMethod(event, path, ['GET', 'HEAD'])
    return new AppError('not_found', `there is nothing at ${path}`)
  }
  const needsCredentials = matching.every(({ handler }) => handler.spec?.auth !== 'none')
  if (needsCredentials && identify(event).kind === 'none') {
    return new AppError('unauthorized', 'this needs an API token: Authorization: Bearer <token>')
  }
  const taken = new Set(
    matching.flatMap(({ method, handler }) =>
      method === 'get' && !handler.spec?.refusesHead ? ['GET', 'HEAD'] : [method.toUpperCase()],
    ),
  )
  return otherMethod(
    event,
    path,
    METHODS.filter((method) => taken.has(method)),
  )
}

function otherMethod(event: H3Event, path: string, allowed: readonly string[]): AppError {
  const names = allowed.join(', ')
  const method = isHead(event.node.req) ? 'HEAD' : event.method
  setResponseHeader(event, 'allow', names)
  return new AppError('method_not_allowed', `${path} takes ${names}, not ${method}`)
}

/** Whether the segments of a path follow a route, `:name` taking any. */
function follows(given: readonly string[], route: string): boolean {
  const wanted = route.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) =>
      segment.startsWith(':') ? given[index] !== '' : segment === given[index],
    )
  )
}
