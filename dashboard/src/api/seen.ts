import { onScopeDispose, ref, type Ref } from 'vue'

/**
 * Whether the page is visible. What only shows something should hold no connection while it is not: a browser opens six to one
 * HTTP/1.1 server, and all its tabs share them.
 */
export function useSeen(): Ref<boolean> {
  const isSeen = ref(document.visibilityState !== 'hidden')
  const look = () => (isSeen.value = document.visibilityState !== 'hidden')
  document.addEventListener('visibilitychange', look)
  onScopeDispose(() => document.removeEventListener('visibilitychange', look))
  return isSeen
}
