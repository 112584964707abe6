import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { ApiError, problemText } from '../api/client.ts'
import { session } from '../api/session.ts'
import type { SecondFactor } from '../api/types.ts'
import { usePasskey } from './passkey.ts'

interface SignIn {
  /** The second factors that would do, once the password was right and one is needed. */
  methods: ShallowRef<readonly SecondFactor[] | null>
  code: Ref<string>
  busy: Ref<'password' | 'passkey' | null>
  problem: Ref<string | null>
  /** Sign in; they resolve to whether somebody is signed in now. */
  withPassword(email: string, password: string): Promise<boolean>
  withPasskey(): Promise<boolean>
  /** Goes back to the password. */
  reset(): void
}

/** Signing in: with the password, then a second factor if the server asks for one; or with a passkey alone. */
export function useSignIn(): SignIn {
  const methods = shallowRef<readonly SecondFactor[] | null>(null)
  const code = ref('')
  const busy = ref<'password' | 'passkey' | null>(null)
  const problem = ref<string | null>(null)

  async function attempt(way: 'password' | 'passkey', work: () => Promise<void>): Promise<boolean> {
    if (busy.value) return false
    busy.value = way
    problem.value = null
    try {
      await work()
      return true
    } catch (error) {
      const isNeeded = error instanceof ApiError && error.code === 'second_factor_required'
      if (isNeeded && error.methods.length > 0) methods.value = error.methods
      else problem.value = problemText(error)
      return false
    } finally {
      busy.value = null
    }
  }

  return {
    methods,
    code,
    busy,
    problem,
    withPassword: (email, password) =>
      attempt('password', () => session.signIn(email, password, methods.value ? code.value : undefined)),
    withPasskey: () => attempt('passkey', async () => session.signInWithPasskey(await usePasskey())),
    reset() {
      methods.value = null
      code.value = ''
      problem.value = null
    },
  }
}
