import { pipeline } from 'node:stream'
import { extract, pack } from 'tar-stream'
import { expect, test } from 'vitest'
import { textOf } from '#daemon/instances/disk.ts'

/** What is read of a file of this size, as the engine sends it. */
async function read(size: number): Promise<string> {
  const tar = pack()
  tar.entry({ name: 'passwd' }, '\n'.repeat(size))
  tar.finalize()
  for await (const entry of pipeline(tar, extract(), () => {})) return await textOf(entry, '/etc/passwd')
  throw new Error('there is no entry')
}

test('a list of users is read', async () => {
  expect(await read(4096)).toHaveLength(4096)
})

test('a file of any size in place of a list of users is refused, not read', async () => {
  await expect(read(4 * 1024 ** 2)).rejects.toMatchObject({
    code: 'runtime_error',
    message: expect.stringContaining('/etc/passwd is larger than 1 MiB'),
  })
})
