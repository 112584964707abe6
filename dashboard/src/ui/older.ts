import { ref, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'

/** Entries of a list that are shown at first. */
export const FIRST_PAGE = 30
/** As many as the server gives at once. */
const MOST = 500

/** How many entries of a list are asked for; the address remembers it, for who comes back to the list. */
export function useOlder(): { limit: Ref<number>; showOlder: () => Promise<void> } {
  const route = useRoute()
  const router = useRouter()
  const limit = ref(route.query['older'] === undefined ? FIRST_PAGE : MOST)
  return {
    limit,
    async showOlder() {
      limit.value = MOST
      await router.replace({ ...route, query: { ...route.query, older: null } })
    },
  }
}
