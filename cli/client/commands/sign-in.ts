import type { Call } from '../../call.ts'

export async function login(call: Call): Promise<void> {
  void call
}

export async function logout(call: Call): Promise<void> {
  void call
}
