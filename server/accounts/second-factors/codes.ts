import { useContext } from '../../context.ts'
import { useRecoveryCode } from './recovery-codes.ts'
import { selectTotp, useStep } from './store.ts'
import { isAppCode, stepOf } from './totp.ts'

/**
 * Uses up a code of the authenticator app or a recovery code, in the caller's transaction: of two requests with the same code
 * one gets through. Returns whether it holds.
 */
export function useCode(code: string): boolean {
  const { database, vault } = useContext()
  if (!isAppCode(code)) return useRecoveryCode(database, code)
  const totp = selectTotp(database)
  if (!totp) return false
  const now = Date.now()
  const step = stepOf(vault.open(totp.secret), code, now)
  return step !== null && useStep(database, step, now)
}
