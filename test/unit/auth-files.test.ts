import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setUp } from '#server/accounts/operations.ts'
import { ensureSetupCode } from '#server/accounts/setup-code.ts'
import type { Context } from '#server/context.ts'
import { verifyToken } from '#server/tokens/operations.ts'
import { ensureServerToken } from '#server/tokens/server-token.ts'
import { openContext } from '../support/context.ts'

let directory: string
let context: Context
let close: () => Promise<void>

beforeEach(async () => {
  ;({ context, close } = await openContext())
  directory = context.options.dataDirectory
})

afterEach(async () => {
  await close()
})

const mode = (name: string) => statSync(join(directory, name)).mode & 0o777
const content = (name: string) => readFileSync(join(directory, name), 'utf8').trim()

describe('the server token', () => {
  it('is created once, readable only by its owner, and works', () => {
    const token = ensureServerToken(context)
    expect(token).toMatch(/^dpl_[0-9a-f]{40}$/)
    expect(content('api_token')).toBe(token)
    expect(mode('api_token')).toBe(0o600)
    expect(ensureServerToken(context)).toBe(token)
    expect(verifyToken(token)).toMatchObject({ id: null })
    expect(verifyToken(`${token}0`)).toBeUndefined()
    expect(verifyToken('')).toBeUndefined()
  })

  it('is the one given at start, and then no file is created', () => {
    context.options.apiToken = 'a-token-of-my-own-choice'
    expect(ensureServerToken(context)).toBe('a-token-of-my-own-choice')
    expect(existsSync(join(directory, 'api_token'))).toBe(false)
    expect(verifyToken('a-token-of-my-own-choice')).toMatchObject({ id: null })
  })

  it('is closed to others if its file was open to them', () => {
    ensureServerToken(context)
    chmodSync(join(directory, 'api_token'), 0o644)
    ensureServerToken(context)
    expect(mode('api_token')).toBe(0o600)
  })

  it('is refused if its file contains something else', () => {
    writeFileSync(join(directory, 'api_token'), 'short')
    expect(() => ensureServerToken(context)).toThrow(/api_token contains no token/)
  })
})

describe('the setup code', () => {
  it('is created once, readable only by its owner', () => {
    const code = ensureSetupCode(context)
    expect(code).toMatch(/^[0-9a-f]{40}$/)
    expect(content('setup_code')).toBe(code)
    expect(mode('setup_code')).toBe(0o600)
    expect(ensureSetupCode(context)).toBe(code)
  })

  it('is used up by the account, and a file that a crash left is removed', async () => {
    const code = ensureSetupCode(context)!
    await setUp({ code, email: 'admin@example.com', password: 'correct horse' }, undefined)
    expect(existsSync(join(directory, 'setup_code'))).toBe(false)
    writeFileSync(join(directory, 'setup_code'), code)
    expect(ensureSetupCode(context)).toBeNull()
    expect(existsSync(join(directory, 'setup_code'))).toBe(false)
  })

  it('creates one account of two simultaneous setups', async () => {
    const input = { code: ensureSetupCode(context)!, email: 'admin@example.com', password: 'correct horse' }
    const outcomes = await Promise.allSettled([setUp(input, undefined), setUp(input, undefined)])
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject({
      code: 'conflict',
    })
  })
})
