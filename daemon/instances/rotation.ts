import { setTimeout as delay } from 'node:timers/promises'
import type { InstanceRow } from '#server/instances/store.ts'
import { schedule } from '#server/options/schedule.ts'

/** Waits until an instance that left rotation may be stopped: clients that resolved its name before may still connect. */
export async function waitAfterRotation(
  { left_rotation_at }: Pick<InstanceRow, 'left_rotation_at'>,
  signal: AbortSignal,
): Promise<void> {
  const { afterRotationMs } = schedule
  const rest = afterRotationMs - (Date.now() - (left_rotation_at ?? 0))
  if (rest > 0) await delay(Math.min(rest, afterRotationMs), undefined, { signal })
}
