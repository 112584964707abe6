import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deployableImageFault, judgeRegistry } from '#server/images/registry.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
/** The API of the context's server listens at this port. */
const OWN = 7878
const never = new AbortController().signal

beforeAll(async () => {
  ;({ close } = await openContext())
})
afterAll(() => close())

describe('an image', () => {
  test.each([
    '169.254.169.254/a',
    '169.254.169.254:5000/a',
    '0.0.0.0:5000/a',
    '2852039166:80/a',
    '0xa9fea9fe:80/a',
    '0251.0376.0251.0376/a',
    '169.254.43518/a',
    '[fd00:ec2::254]/a',
    '[::ffff:a9fe:a9fe]:5000/a',
    '[::]:5000/a',
    '100.100.100.200/a',
    'metadata.google.internal/a',
    'METADATA.google.internal/a',
  ])('never comes from a metadata service or from nowhere: %s', (image) => {
    expect(deployableImageFault(image)).toMatch(/^must use another registry: .*never connected to$/)
  })

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.9.9.9',
    '[::1]',
    '[::ffff:7f00:1]',
  ])("never comes from this server's own API, as %s", (host) => {
    expect(deployableImageFault(`${host}:${OWN}/a`)).toMatch(/this server's own API/)
    expect(deployableImageFault(`${host}:${OWN + 1}/a`)).toBeNull()
  })

  test.each([
    'api',
    'team/api:2',
    'registry.example.com/api',
    'localhost:5000/api',
    '127.0.0.1:5000/api',
    '10.1.2.3/api',
    '192.168.1.1:5000/api',
  ])('may be %s', (image) => {
    expect(deployableImageFault(image)).toBeNull()
  })

  test.each(['registry.example.com:99999/api', '1.2.3.400/api'])(
    'has a registry that is a host: %s',
    (image) => {
      expect(deployableImageFault(image)).toMatch(/is not a host$/)
    },
  )
})

describe('a registry that is checked by what its name resolves to', () => {
  test("may not resolve to this server's own API", async () => {
    await expect(judgeRegistry(`localhost:${OWN}/a:1`, never)).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringMatching(
        /^the image localhost:7878\/a:1 may not be pulled: localhost resolves to .* own API/,
      ),
    })
  })

  test('may be one that has no address here', async () => {
    await judgeRegistry('registry.invalid/a', never)
    await judgeRegistry(`localhost:${OWN + 1}/a`, never)
  })

  test('is not waited for if nobody needs the image any more', async () => {
    const reason = new Error('canceled')
    await expect(judgeRegistry('registry.invalid/a', AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
