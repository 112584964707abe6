import type { Call, CallKind, Scene } from './call.ts'
import { OTHER_CALLS } from './others.ts'
import { SERVICE_CALLS } from './services.ts'
import { SURROUNDING_CALLS } from './surroundings.ts'
import { WORK_CALLS } from './work.ts'

export type { Answer } from './call.ts'

/** Every kind of call, with how often it is drawn. */
const CALLS: readonly CallKind[] = [...SERVICE_CALLS, ...SURROUNDING_CALLS, ...WORK_CALLS, ...OTHER_CALLS]
/** So many draws may find nothing in the model; a new model has little. */
const MAX_TRIES = 60

/** A call by the name of its kind. */
export interface NamedCall extends Call {
  name: string
}

/** Draws calls that can be sent at once: no two are about the same thing. */
export async function drawCalls(scene: Omit<Scene, 'text'>, count: number): Promise<NamedCall[]> {
  const calls: NamedCall[] = []
  for (let tries = 0; tries < MAX_TRIES && calls.length < count; tries++) {
    const kind = scene.draw.weighted(CALLS)
    const text = `r${scene.round}c${calls.length}`
    const call = await kind.draw({ ...scene, text })
    const taken = calls.flatMap(({ subjects }) => subjects)
    if (call && !call.subjects.some((subject) => taken.includes(subject)))
      calls.push({ name: kind.name, ...call })
  }
  return calls
}
