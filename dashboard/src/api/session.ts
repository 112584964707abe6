import { readonly, ref } from 'vue'
import { api, whenSignedOut } from './client.ts'
import type { AuthStatus, PasskeyAssertion, User } from './types.ts'

const user = ref<User | null>(null)
const setupRequired = ref(false)
const ended = ref(false)
let known = false
let asking: Promise<AuthStatus> | null = null
let renewal: PromiseWithResolvers<boolean> | null = null
const renewed = new Set<() => void>()

function take(status: AuthStatus): void {
  user.value = status.auth === 'session' ? status.user : null
  setupRequired.value = status.setup_required
  known = true
  if (user.value) settle(true)
}

/** Ends the wait for a new session, if there was one. */
function settle(isRenewed: boolean): void {
  if (!ended.value) return
  ended.value = false
  renewal?.resolve(isRenewed)
  renewal = null
  if (isRenewed) for (const listener of renewed) listener()
}

/** The user who is signed in to this browser. */
export const session = {
  /** Kept when the session expires, so that the page stays too. */
  user: readonly(user),
  setupRequired: readonly(setupRequired),
  /** The server no longer knows the session; the user is asked for the password over the page. */
  ended: readonly(ended),

  /** Asks the server once; later calls use its answer. Calls that wait at the same time fail together. */
  async load(): Promise<void> {
    if (known) return
    asking ??= api('GET /auth/status').finally(() => (asking = null))
    take(await asking)
  },

  /** Signs in; `code` is of the second factor, if one is set up. */
  async signIn(email: string, password: string, code?: string): Promise<void> {
    take(await api('POST /auth/login', { body: { email, password, ...(code !== undefined && { code }) } }))
  },

  async signInWithPasskey(passkey: PasskeyAssertion): Promise<void> {
    take(await api('POST /auth/login', { body: { passkey } }))
  },

  async setUp(code: string, email: string, password: string): Promise<void> {
    take(await api('POST /auth/setup', { body: { code, email, password } }))
  },

  async signOut(): Promise<void> {
    await api('POST /auth/logout')
    session.leave()
  },

  /** Gives up the session in this page; what waited for its renewal fails. */
  leave(): void {
    user.value = null
    settle(false)
  },

  /** Asks whether the session is still valid, or is valid again because of another tab. */
  async check(): Promise<void> {
    const status = await api('GET /auth/status')
    if (status.user) take(status)
    else void session.end()
  },

  /** The server no longer knows the session. Resolves to whether there is a new one, once that is decided. */
  end(): Promise<boolean> {
    if (!user.value) return Promise.resolve(false)
    ended.value = true
    renewal ??= Promise.withResolvers()
    return renewal.promise
  },

  /** Calls `listener` each time a session that had ended is there again, for the lifetime of the page. */
  onRenewal(listener: () => void): void {
    renewed.add(listener)
  },
}

whenSignedOut(() => session.end())
