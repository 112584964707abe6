import { onScopeDispose, toValue, watchEffect, type MaybeRefOrGetter } from 'vue'

const PRODUCT = 'Deployer'

/** The page's title while the component lives. */
export function useTitle(title: MaybeRefOrGetter<string>): void {
  watchEffect(() => {
    document.title = `${toValue(title)} · ${PRODUCT}`
  })
  onScopeDispose(() => {
    document.title = PRODUCT
  })
}
