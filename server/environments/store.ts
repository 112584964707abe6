import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'

/** The environment that always exists. */
export const PRODUCTION = 'production'

export interface Environment {
  id: string
  name: string
  /** The private network's /20 in CIDR form; null until the server has chosen it. */
  subnet: string | null
  created_at: number
}

/** Makes the production environment at first start. */
export function ensureProduction(): void {
  useDatabase().run(
    'INSERT INTO environments (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
    newId('environment'),
    PRODUCTION,
    Date.now(),
  )
}

/** The environment with this id or name; production when absent. Throws `not_found`. */
export function findEnvironment(idOrName: string = PRODUCTION): Environment {
  const found = useDatabase().get<Environment>(
    'SELECT * FROM environments WHERE id = ?1 OR name = ?1',
    idOrName,
  )
  if (!found) throw new AppError('not_found', `there is no environment ${idOrName}`)
  return found
}

/** Every environment, the oldest (production) first. */
export function listEnvironments(): Environment[] {
  return useDatabase().all<Environment>('SELECT * FROM environments ORDER BY created_at, id')
}

/** Records the subnet chosen for an environment's network. */
export function setSubnet(id: string, subnet: string): void {
  useDatabase().run('UPDATE environments SET subnet = ? WHERE id = ?', subnet, id)
}
