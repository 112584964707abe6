import { readonly, ref } from 'vue'
import { api, whenSignedOut } from './client.ts'
import type { AuthStatus, User } from './types.ts'

const user = ref<User | null>(null)
const setupRequired = ref(false)
let known = false
let ended: () => void = () => {}

function take(status: AuthStatus): void {
  user.value = status.auth === 'session' ? status.user : null
  setupRequired.value = status.setup_required
  known = true
}

/** Who is signed in to this browser. */
export const session = {
  user: readonly(user),
  setupRequired: readonly(setupRequired),

  /** Asks the server once; later calls answer from what it said. */
  async load(): Promise<void> {
    if (!known) take(await api('GET /auth/status'))
  },

  async signIn(email: string, password: string): Promise<void> {
    take(await api('POST /auth/login', { body: { email, password } }))
  },

  async setUp(code: string, email: string, password: string): Promise<void> {
    take(await api('POST /auth/setup', { body: { code, email, password } }))
  },

  async signOut(): Promise<void> {
    await api('POST /auth/logout')
    user.value = null
  },

  /** The server no longer knows the session: leads to sign-in. */
  end(): void {
    if (!user.value) return
    user.value = null
    ended()
  },

  /** Registers what happens when the session ends by itself. */
  whenEnded(listener: () => void): void {
    ended = listener
  },
}

whenSignedOut(() => session.end())
