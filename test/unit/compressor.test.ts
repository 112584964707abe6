import { setImmediate as nextLook } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Compressor, MAX_COMPRESSORS } from '../../proxy/compression/compressor.ts'

test("of answers that are ready at once, only so many delay the worker's other work", async () => {
  const content = Buffer.alloc(2_000, 'words ')
  for (let answers = 0; answers < MAX_COMPRESSORS; answers++)
    expect(Compressor.take('gzip', content.length)!.whole(content).length).toBeLessThan(content.length)
  expect(Compressor.take('gzip', content.length)).toBeNull()
  await nextLook()
  expect(Compressor.take('gzip', content.length)).not.toBeNull()
})
