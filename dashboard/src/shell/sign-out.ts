import { useRouter } from 'vue-router'
import { problemText } from '../api/client.ts'
import { session } from '../api/session.ts'
import { toast } from '../ui/toasts.ts'
import { leftPage, mayLeave } from '../ui/unsaved.ts'

/** Ends the session, unless the user stays because of unsaved changes. */
export function useSignOut(): () => Promise<void> {
  const router = useRouter()
  return async () => {
    if (!(await mayLeave())) return
    try {
      await session.signOut()
      await router.push('/sign-in')
    } catch (error) {
      leftPage()
      toast.problem(problemText(error))
    }
  }
}
