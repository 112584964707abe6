import initial from './001-initial.ts'

/** Every migration in order; its place is its version. Append only: a landed migration is never edited. */
export const migrations: readonly string[] = [initial]
