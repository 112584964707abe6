import { readonly, ref } from 'vue'
import { whenUnverified } from './client.ts'
import type { SecondFactor } from './types.ts'

const methods = ref<readonly SecondFactor[] | null>(null)
let wait: PromiseWithResolvers<boolean> | null = null

/** Second factors that the user is asked for in the middle of something. */
export const verification = {
  /** Those that would do; null while nothing is asked. */
  methods: readonly(methods),

  /** Asks for one. Resolves to whether it was shown; requests that wait at the same time are answered together. */
  ask(wanted: readonly SecondFactor[]): Promise<boolean> {
    methods.value = wanted
    wait ??= Promise.withResolvers()
    return wait.promise
  },

  /** Ends the asking. */
  settle(isVerified: boolean): void {
    methods.value = null
    wait?.resolve(isVerified)
    wait = null
  },
}

whenUnverified((wanted) => verification.ask(wanted))
