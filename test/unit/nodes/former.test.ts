import { expect, test } from 'vitest'
import type { Stray } from '#daemon/engine/index.ts'
import { removeFormerContainers } from '#daemon/nodes/former.ts'
import { ledgerOn } from '#server/ledger.ts'
import { openContext } from '../../support/context.ts'
import { addNode } from '../../support/nodes.ts'

test('containers from when a machine was a node before are removed, and its volumes stay', async () => {
  const { close } = await openContext()
  try {
    const id = addNode('worker')
    const removed: string[] = []
    const engine = {
      strays: async (): Promise<Stray[]> => [
        { kind: 'container', name: 'dbs-1' },
        { kind: 'volume', name: 'dbs-1' },
      ],
      containers: {
        async remove(name: string) {
          // The engine's own rule: only what is recorded is removed.
          if (ledgerOn(id).find('container', name)) removed.push(name)
        },
      },
    }
    await removeFormerContainers(id, engine, new AbortController().signal)
    expect(removed).toEqual(['dbs-1'])
  } finally {
    await close()
  }
})
