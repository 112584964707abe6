import { setResponseHeader, type H3Event } from 'h3'
import { AppError } from '../errors.ts'
import { identify } from './auth.ts'
import { isHead } from './head.ts'

/** Methods in the order in which `Allow` names them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * The error for a request that no route accepts: `not_found` when no route has its path, otherwise `method_not_allowed` with
 * `Allow`; but `unauthorized` first when there are no valid credentials.
 */
export async function refusalOfUnmatched(event: H3Event): Promise<AppError> {
  // The module lists every route file, so it can be imported only once all of them are loaded.
  const { endpoints } = await import('#endpoints')
  const path = event.path.split('?')[0]!
  // Split once: anybody may ask for a path of thousands of segments, and there are many routes.
  const segments = path.replace(/(.)\/$/, '$1').split('/')
  const following = endpoints.filter((endpoint) => follows(segments, endpoint.path))
  // A path that has a file of its own is not a name that another file takes.
  const own = following.filter((endpoint) => !endpoint.path.includes(':'))
  const matching = own.length > 0 ? own : following
  if (matching.length === 0) {
    // The list of the dashboard's files is part of the build, as the endpoints are.
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
  return new AppError('method_not_allowed', `${path} accepts ${names}, not ${method}`)
}

/** Whether the segments of a path match a route, in which `:name` matches any segment. */
function follows(given: readonly string[], route: string): boolean {
  const wanted = route.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) =>
      segment.startsWith(':') ? given[index] !== '' : segment === given[index],
    )
  )
}
