import { afterAll, beforeAll, expect, test } from 'vitest'
import { changePassword } from '#server/accounts/operations.ts'
import { hashPassword } from '#server/accounts/passwords.ts'
import { endSession, openSession } from '#server/accounts/sessions.ts'
import { insertAccount } from '#server/accounts/store.ts'
import { MAX_FAILURES } from '#server/accounts/throttle.ts'
import type { Context } from '#server/context.ts'
import { newId } from '#server/ids.ts'
import { openContext } from '../support/context.ts'

let context: Context
let close: () => Promise<void>

beforeAll(async () => {
  ;({ context, close } = await openContext())
  const password_hash = await hashPassword('the right one')
  insertAccount(context.database, {
    id: newId('user'),
    email: 'ada@example.com',
    password_hash,
    created_at: Date.now(),
  })
})
afterAll(() => close())

const newSession = () => openSession(context.database, undefined, false).id
const guess = (session: string) =>
  changePassword({ current_password: 'a wrong one', new_password: 'another one' }, session)

test('wrong passwords of a session are counted until it ends, and forgotten then', async () => {
  const [ended, other] = [newSession(), newSession()]
  for (let index = 0; index < MAX_FAILURES; index++)
    await expect(guess(ended)).rejects.toMatchObject({ code: 'invalid_credentials' })
  await expect(guess(other)).rejects.toMatchObject({ code: 'invalid_credentials' })
  await expect(guess(ended)).rejects.toMatchObject({ code: 'too_many_attempts' })

  endSession(ended)
  await expect(guess(other)).rejects.toMatchObject({ code: 'invalid_credentials' })
  await expect(guess(ended)).rejects.toMatchObject({ code: 'invalid_credentials' })
})
