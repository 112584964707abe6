import type { Call } from '../call.ts'
import { connect, type Api } from './api.ts'

/** Does work with the server of a command, and closes the connection behind it. Throws as `connect` and the work do. */
export async function withApi<T>(call: Call, work: (api: Api) => Promise<T>): Promise<T> {
  const api = await connect(call)
  try {
    return await work(api)
  } finally {
    api.close()
  }
}
