import { messageOf } from '#server/errors.ts'

/** Runs steps one after another, each whatever became of those before it. Throws an error with what all failures say. */
export async function runEach(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failures.push(error))
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1)
    throw new AggregateError(failures, [...new Set(failures.map(messageOf))].join('; '))
}
