import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '#server/accounts/passwords.ts'
import { Email, Password } from '#server/accounts/schema.ts'

describe('password hashes', () => {
  it('are salted argon2id strings that contain their parameters', async () => {
    const [first, second] = [await hashPassword('correct horse'), await hashPassword('correct horse')]
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(first).not.toBe(second)
  })

  it('match their password and no other', async () => {
    const hash = await hashPassword('päss wörd 🔑')
    expect(await verifyPassword('päss wörd 🔑', hash)).toBe(true)
    expect(await verifyPassword('päss wörd 🔒', hash)).toBe(false)
    expect(await verifyPassword('', hash)).toBe(false)
  })

  it('are verified with their own parameters, so that future ones lock nobody out', async () => {
    // From the reference implementation's own tests: github.com/P-H-C/phc-winner-argon2, src/test.c.
    const hash = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
    expect(await verifyPassword('password', hash)).toBe(true)
    expect(await verifyPassword('passwore', hash)).toBe(false)
  })

  it('never match if there is no account', async () => {
    expect(await verifyPassword('anything', undefined)).toBe(false)
  })
})

describe('a new password', () => {
  it.each([
    ['of 7 characters', 'seven c', false],
    ['of 8 characters', 'eight ch', true],
    ['of 7 characters in 14 code units', '🔑'.repeat(7), false],
    ['of 8 characters in 16 code units', '🔑'.repeat(8), true],
    ['of 256 characters in 512 code units', '🔑'.repeat(256), true],
    ['of 257 characters', 'x'.repeat(257), false],
    ['with a newline and NUL', 'with\nnewline and \0', true],
  ])('%s is judged only by its length', (_case, text, accepted) => {
    expect(Password.safeParse(text).success).toBe(accepted)
  })
})

describe('an e-mail address', () => {
  it.each([
    ['an ordinary one', 'admin@example.com', true],
    ['one beyond ASCII', 'Ädmin@localhost', true],
    ['one without @', 'admin', false],
    ['one with two @', 'a@b@c', false],
    ['one with a space', 'a b@c', false],
    ['one with NUL', 'a@b\u0000', false],
    ['one without a local part', '@example.com', false],
    ['one of 254 characters', `${'a'.repeat(242)}@example.com`, true],
    ['one of 255 characters', `${'a'.repeat(243)}@example.com`, false],
  ])('%s is distinguished from a faulty one', (_case, text, accepted) => {
    expect(Email.safeParse(text).success).toBe(accepted)
  })
})
