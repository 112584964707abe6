import { FULL, MODES, type Access, type Mode } from '#server/access/access.ts'
import type { Database } from '#server/database/index.ts'
import { PRODUCTION } from '#server/environments/production.ts'
import { AppError } from '#server/errors.ts'
import { isId } from '#server/ids.ts'
import { givenAccess } from '#server/tokens/given-access.ts'
import type { Call } from '../call.ts'
import { didYouMean } from '../suggest.ts'

/** The flags that restrict a token. */
const RESTRICTIONS = ['secrets', 'environment', 'service'] as const

/**
 * What the flags say that a token may do; everything without one. Throws `invalid_request` for wrong flags, and `not_found`
 * for what they name.
 */
export function accessFrom(call: Call, database: Database): Access {
  const mode = call.text('access')
  if (mode === null) {
    const restriction = RESTRICTIONS.find((flag) => call.has(flag))
    if (restriction === undefined) return FULL
    throw new AppError('invalid_request', `--${restriction} needs --access read, deploy or full`)
  }
  if (!isMode(mode))
    throw new AppError(
      'invalid_request',
      `--access takes read, deploy or full, not ${mode}${didYouMean(mode, MODES)}`,
    )
  const environments = call.texts('environment')
  const services = call.texts('service').map((service) => serviceId(database, service, environments))
  return givenAccess(
    {
      mode,
      secrets: call.has('secrets'),
      environments: environments.length === 0 ? null : [...environments],
      services: services.length === 0 ? null : services,
    },
    database,
  )
}

function isMode(text: string): text is Mode {
  return (MODES as readonly string[]).includes(text)
}

/** A service by its id, or by its name in the only environment that is given, else in production. */
function serviceId(database: Database, service: string, environments: readonly string[]): string {
  if (isId('service', service)) return service
  const [name, qualifier] = service.split('.')
  const place = qualifier ?? (environments.length === 1 ? environments[0]! : PRODUCTION)
  const found = database.get<{ id: string }>(
    `SELECT services.id FROM services JOIN environments ON environments.id = environment_id
     WHERE services.name = ?1 AND (environments.id = ?2 OR environments.name = ?2)`,
    name!,
    place,
  )
  if (!found) throw new AppError('not_found', `there is no service ${name} in ${place}`)
  return found.id
}
