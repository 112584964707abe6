import { setTimeout as delay } from 'node:timers/promises'
import type { InstanceRow } from '#server/instances/store.ts'

/** Container to container traffic does not pass the data plane: an instance outlives its rotation by this. */
const AFTER_ROTATION_MS = 5_000

/** Waits until an instance that left rotation may be stopped, as who looked its name up may still call it. */
export async function outliveRotation(
  { left_rotation_at }: Pick<InstanceRow, 'left_rotation_at'>,
  signal: AbortSignal,
): Promise<void> {
  const rest = AFTER_ROTATION_MS - (Date.now() - (left_rotation_at ?? 0))
  if (rest > 0) await delay(Math.min(rest, AFTER_ROTATION_MS), undefined, { signal })
}
