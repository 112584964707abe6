import { messageOf } from '#server/errors.ts'

/** Runs steps one after another, even if earlier ones fail. Throws an error with the messages of all failures. */
export async function runEach(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failures.push(error))
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1)
    throw new AggregateError(failures, [...new Set(failures.map(messageOf))].join('; '))
}
