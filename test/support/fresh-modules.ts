import { afterAll, vi } from 'vitest'

// Files of a worker share its process, whose start costs more than most of them (`isolate: false`), but not the state of the
// project's modules: each begins with modules of its own.
afterAll(() => void vi.resetModules())
