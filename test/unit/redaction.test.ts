import { describe, expect, it } from 'vitest'
import { hide, safeFields, withoutSecrets } from '#server/text/redaction.ts'

const TOKEN = `dpl_${'0123456789'.repeat(4)}`

describe('a log line', () => {
  it.each([
    [`refused ${TOKEN}`, 'refused dpl_***'],
    ['signed with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'signed with whsec_***'],
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer ***'],
    ['cloning https://ada:pa55@git.example.com/a.git', 'cloning https://***@git.example.com/a.git'],
    ['GET /api/v1/events?access_token=abc&x=1', 'GET /api/v1/events?access_token=***&x=1'],
    [
      'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b of api',
      'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b of api',
    ],
  ])('contains no secret recognized by its form: %s', (text, safe) => {
    expect(withoutSecrets(text)).toBe(safe)
  })

  it('contains no secret that was named', () => {
    hide('correct horse')
    hide('')
    expect(withoutSecrets('the correct horse is here')).toBe('the *** is here')
  })

  it('contains no secret recognized by the name of its field, at any depth; ids do not count', () => {
    expect(
      safeFields({
        password: 'x',
        options: { webhook_secret: 'y', list: [`a ${TOKEN}`] },
        token: 'tok-4f1d0c9a7b3e5d2f6a80',
        keys: 3,
      }),
    ).toEqual({
      password: '***',
      options: { webhook_secret: '***', list: ['a dpl_***'] },
      token: 'tok-4f1d0c9a7b3e5d2f6a80',
      keys: 3,
    })
  })

  it('accepts fields that have no JSON', () => {
    const circle: Record<string, unknown> = { big: 5n, error: new Error(`no ${TOKEN}`), nothing: undefined }
    expect(safeFields(circle)).toEqual({ big: '5', error: 'no dpl_***' })
    circle.self = circle
    expect(safeFields(circle)).toEqual({ unreadable: ['big', 'error', 'nothing', 'self'] })
  })
})
