import { afterAll, vi } from 'vitest'

// Test files of one worker share its process, which costs more to start than most of them take (`isolate: false`), but not
// the state of the project's modules: each file gets fresh ones.
afterAll(() => void vi.resetModules())
