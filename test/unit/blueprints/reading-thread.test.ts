import { fileURLToPath } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { readBlueprint } from '#server/blueprints/read.ts'
import {
  convertComposeAside,
  provideBlueprintProgram,
  readBlueprintAside,
} from '#server/blueprints/reading-thread.ts'

const FILE =
  'services:\n  - name: api\n    image: registry.example.com/api:1\n    env: [{key: A, value: 1}]\n'
const CONTEXT = { environment: 'production' }

beforeEach(() =>
  provideBlueprintProgram(
    fileURLToPath(new URL('../../../server/blueprints/reading-program.ts', import.meta.url)),
  ),
)

it('reads a file in a thread in the same way as without one', async () => {
  expect(await readBlueprintAside(FILE, CONTEXT)).toEqual(readBlueprint(FILE, CONTEXT))
  const compose = 'services: {web: {image: nginx, ports: ["80:80"]}}'
  expect((await convertComposeAside(compose, 'http://localhost')).yaml).toContain('image: nginx')
})

it('refuses a file there with the same positions, and continues', async () => {
  const refused = readBlueprintAside('services:\n\t- a\n', CONTEXT)
  await expect(refused).rejects.toMatchObject({
    code: 'invalid_request',
    details: [{ line: 2, column: 1, path: '' }],
  })
  expect((await readBlueprintAside(FILE, CONTEXT)).faults).toEqual([])
})

it('refuses more files than may wait, and reads the others', async () => {
  const asked = await Promise.allSettled(Array.from({ length: 40 }, () => readBlueprintAside(FILE, CONTEXT)))
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(32)
  for (const answer of asked.slice(32))
    expect(answer).toMatchObject({ reason: { code: 'service_unavailable', retryAfterSeconds: 1 } })
  expect((await readBlueprintAside(FILE, CONTEXT)).faults).toEqual([])
})
