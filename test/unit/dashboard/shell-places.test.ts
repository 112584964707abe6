import { expect, test } from 'vitest'
import { shellPlaces } from '../../../dashboard/src/terminals/places.ts'

test('a shell usually opens in an instance that stays, and never in one that has exited', () => {
  const states = ['draining', 'exited', 'starting', 'running', 'failing', 'running'] as const
  const instances = states.map((state, at) => ({ name: `${state}-${at}`, state }))
  expect(shellPlaces(instances)).toEqual(['running-3', 'running-5', 'failing-4', 'starting-2', 'draining-0'])
  expect(shellPlaces([])).toEqual([])
})
